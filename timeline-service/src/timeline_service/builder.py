"""Timelines built from the database, and put into the cache.

Rule: first the marker, then everything that is read, then the commit; murmuration_timelines.reader says why that loses
nothing. While the marker is there, whoever was read need not be read again: what they say arrives above it. So after a
follow that changed, only the new followees are read; before that, `look_again` takes the note of the change off the
marker. A thread renews it, so that it lives for as long as its builder does, however slow the database is.
"""

import time
from collections.abc import Callable, Container, Hashable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import Protocol, TypeVar

from murmuration_runtime.errors import RedisAwayError
from murmuration_runtime.periodic import repeated
from murmuration_timelines import layout
from murmuration_timelines.layout import BEGINNING, CAP
from murmuration_timelines.merge import TOP, Run, Timeline, incomplete, union
from murmuration_timelines.read_ahead import ReadAhead
from murmuration_timelines.reader import TimelineReader
from murmuration_timelines.shown import Shown
from murmuration_timelines.tweets import Tweet
from timeline_service.authors import Authors, present
from timeline_service.reads_ahead import MANY, ReadsAhead
from timeline_service.rebuild_slots import RebuildSlots

ATTEMPTS = 16
CHUNK = 128  # authors that are read at once
AHEAD = 2  # times as many ids as are wanted are kept of what the queries returned
FEW = 16  # ids that are read of an author at the least: fewer cost the database as much

T = TypeVar("T")


class Tweets(Protocol):
    """What everybody said, for what the cache does not hold."""

    def ids(self, below: Mapping[str, str], count: int) -> dict[str, Run]:
        """Return for each author so many undeleted tweets below an id of theirs, by an index that may lag."""

    def tweets(self, tweet_ids: Iterable[str]) -> dict[str, Tweet]:
        """Return those of the tweets that are not deleted, strongly consistent."""


class AtOnce(Protocol):
    """Has work done, one of each name at a time."""

    def __call__(self, name: Hashable, work: Callable[[], T], /) -> T:
        """Return what the work returned."""


def at_once(_name: Hashable, work: Callable[[], T]) -> T:
    """Work in the thread that asks."""
    return work()


class Gathered:
    """What a rebuild has read so far: of whom, and which ids; and whose it read last."""

    def __init__(self) -> None:
        self.authors: frozenset[str] = frozenset()
        self.runs: list[Run] = []
        self.wanted: frozenset[str] = frozenset()


class Builder:
    """Timelines and runs of ids from the database. Safe among threads."""

    def __init__(
        self,
        cache: TimelineReader,
        authors: Authors,
        tweets: Tweets,
        slots: RebuildSlots,
        cap: int = CAP,
        few: int = FEW,
        run: AtOnce = at_once,
        clock: Callable[[], float] = time.time,
        departed: Container[str] = frozenset(),
    ) -> None:
        """run: does one thing for a user at a time, wherever it likes. departed: who deleted their account."""
        self.ahead = ReadsAhead(cache, clock)
        self._cache = cache
        self._authors = authors
        self._tweets = tweets
        self._slots = slots
        self._cap = cap
        self._few = few
        self.run = run
        self._departed = departed

    def home(self, user_id: str) -> Timeline:
        """Build a cold home timeline and cache it; while another builds it, return what we read and cache nothing."""
        return self.run(("home", user_id), partial(self._build, user_id))

    def _build(self, user_id: str) -> Timeline:
        home = self._cache.home
        with self._slots.one():
            if (token := home.begin(user_id)) is None:  # another reader is building it, or has built it
                return home.load([user_id]).get(user_id) or self.read(user_id)
            gathered = Gathered()
            with repeated("marker", partial(home.renew, user_id, token), layout.REBUILD_SECONDS / 4):
                for _ in range(ATTEMPTS):
                    timeline = self._read(user_id, gathered)
                    if home.commit(user_id, token, timeline):
                        self._keep_ahead(user_id, timeline, gathered)
                        break
                    if not home.renew(user_id, token, look_again=True):  # the marker is gone: the next read builds it
                        break
            return timeline

    def authors(self, author_ids: Iterable[str]) -> None:
        """Build cold timelines of authors alone and cache them, but for those that others build, or Redis refuses."""
        for some in chunks(author_ids, CHUNK):
            self._build_authors(some)

    def _build_authors(self, author_ids: Iterable[str]) -> None:
        authors, tokens = self._cache.authors, dict[str, str]()
        for author_id in author_ids:
            with suppress(RedisAwayError):  # other nodes may take theirs
                if token := authors.begin(author_id):
                    tokens[author_id] = token

        def renew() -> None:
            for author_id, token in tokens.items():
                with suppress(RedisAwayError):
                    authors.renew(author_id, token)

        with repeated("markers", renew, layout.REBUILD_SECONDS / 4):
            runs = self._tweets.ids(dict.fromkeys(tokens, TOP), self._cap)
            for author_id, token in tokens.items():
                with suppress(RedisAwayError):
                    authors.commit(author_id, token, self._complete(runs[author_id], frozenset({author_id})))

    def author(self, author_id: str) -> Timeline:
        """Gather the timeline of an author alone, and cache nothing."""
        return self._complete(self._tweets.ids({author_id: TOP}, self._cap)[author_id], frozenset({author_id}))

    def read(self, user_id: str) -> Timeline:
        """Gather a home timeline, and cache nothing."""
        return self._read(user_id, Gathered())

    def far_down(self, user_id: str, author_ids: frozenset[str], below: str, count: int) -> ReadAhead:
        """Gather for a page, in a slot and for one page of a user at a time: then for another than was asked."""
        return self.run(("far down", user_id), partial(self._far_down, user_id, author_ids, below, count))

    def _far_down(self, user_id: str, author_ids: frozenset[str], below: str, count: int) -> ReadAhead:
        with self._slots.one():
            run = self.gather(author_ids, below, max(count, self._cap) if len(author_ids) > MANY else count)
            return self.ahead.keep(user_id, author_ids, below, run)

    def gather(self, author_ids: Iterable[str], below: str, count: int) -> Run:
        """Return the newest `count` ids of these authors, or more if the queries returned more."""
        wanted = dict.fromkeys(author_ids, below)
        share = min(max(2 * count // len(wanted), self._few), count)
        runs: dict[str, Run] = {}
        while wanted:
            for some in chunks(wanted, CHUNK):
                found = self._tweets.ids({author_id: wanted[author_id] for author_id in some}, share)
                for author_id, run in found.items():
                    above = runs[author_id].ids if author_id in runs else []
                    runs[author_id] = Run([*above, *run.ids], run.floor)
            wanted = incomplete(runs, count)
            share = min(4 * share, count)
        return union(runs.values(), count=AHEAD * max(count, self._cap))

    def _keep_ahead(self, user_id: str, timeline: Timeline, gathered: Gathered) -> None:
        """Keep what a rebuild of many authors has read, for the pages below its timeline."""
        run = union(gathered.runs, count=AHEAD * self._cap)
        if len(gathered.wanted) > MANY and timeline.floor != BEGINNING and run.floor < timeline.floor:
            self.ahead.keep(user_id, gathered.wanted, timeline.ids[len(timeline.ids) // 2], run)

    def _read(self, user_id: str, gathered: Gathered) -> Timeline:
        """Read whose tweets the user reads now, and the tweets of those whose are not yet gathered.

        Who departed is among whom the timeline shows, as in the tables; what they said is not in it.
        """
        authors = self._authors.of(user_id, self._cache.noted(user_id))
        gathered.wanted = present(authors, user_id, self._departed)
        if new := gathered.wanted - gathered.authors:
            gathered.runs.append(self.gather(new, TOP, self._cap))
            gathered.authors |= new
        whole = self._complete(union(gathered.runs, count=self._cap), gathered.wanted)
        return Timeline(whole.ids, whole.floor, Shown.of(authors))

    def _complete(self, run: Run, authors: frozenset[str]) -> Timeline:
        """Add what the index may not have yet; what it does not have any more is deleted, and mostly known to be."""
        lacking = {each for each in self._cache.recent(authors) if each > run.floor}.difference(run.ids)
        known = self._cache.bodies([*lacking])[0] if lacking else {}
        recent = sorted((each for each in lacking if known.get(each, True)), reverse=True)
        whole = union([run, Run(recent, BEGINNING)], count=self._cap)
        return Timeline(whole.ids, whole.floor, Shown.of(authors))


def chunks(items: Iterable[str], size: int) -> Iterator[list[str]]:
    """Cut a long sequence into pieces."""
    rest = iter(items)
    while piece := list(islice(rest, size)):
        yield piece
