"""Timelines built from the database, and put into the cache.

Rule: first the marker, then everything that is read, then the commit; murmuration_timelines.reader says why that loses
nothing. While the marker is there, whoever was read need not be read again: what they say arrives above it. So after a
follow that changed, only the new followees are read; before that, `look_again` takes the note of the change off the
marker.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import nullcontext
from functools import partial
from itertools import islice
from typing import Protocol

from murmuration_timelines.layout import BEGINNING, CAP
from murmuration_timelines.merge import TOP, Run, Timeline, incomplete, union
from murmuration_timelines.reader import TimelineReader
from murmuration_timelines.shown import Shown
from murmuration_timelines.tweets import Tweet
from timeline_service.authors import Authors
from timeline_service.rebuild_slots import RebuildSlots

ATTEMPTS = 16
CHUNK = 128  # authors that are read between two renewals of a marker
FEW = 16  # ids that are read of an author at the least: fewer cost the database as much


class Tweets(Protocol):
    """What everybody said, for what the cache does not hold."""

    def ids(self, below: Mapping[str, str], count: int) -> dict[str, Run]:
        """Return for each author so many undeleted tweets below an id of theirs, by an index that may lag."""

    def tweets(self, tweet_ids: Iterable[str]) -> dict[str, Tweet]:
        """Return those of the tweets that are not deleted, strongly consistent."""


def at_once(_user_id: str, build: Callable[[], Timeline]) -> Timeline:
    """Build in the thread that asks."""
    return build()


class Gathered:
    """What a rebuild has read so far: of whom, and which ids."""

    def __init__(self) -> None:
        self.authors: frozenset[str] = frozenset()
        self.runs: list[Run] = []


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
        run: Callable[[str, Callable[[], Timeline]], Timeline] = at_once,
    ) -> None:
        """run: builds one user's timeline, wherever it likes."""
        self._cache = cache
        self._authors = authors
        self._tweets = tweets
        self._slots = slots
        self._cap = cap
        self._few = few
        self._run = run

    def home(self, user_id: str) -> Timeline:
        """Build a cold home timeline and cache it; while another builds it, return what we read and cache nothing."""
        return self._run(user_id, partial(self._build, user_id))

    def _build(self, user_id: str) -> Timeline:
        home = self._cache.home
        with self._slots.one():
            token, gathered = home.begin(user_id), Gathered()
            for _ in range(ATTEMPTS):
                if token is None:  # another reader is building it, or has built it: then it is warm
                    return home.load([user_id]).get(user_id) or self.read(user_id)
                timeline = self._read(user_id, gathered, partial(home.renew, user_id, token))
                if home.commit(user_id, token, timeline):
                    break
                if not home.renew(user_id, token, look_again=True):  # the marker is gone: nothing that was read counts
                    token, gathered = home.begin(user_id), Gathered()
            return timeline

    def authors(self, author_ids: Iterable[str]) -> dict[str, Timeline]:
        """Build the timelines of authors alone."""
        authors = self._cache.authors
        with self._slots.one():
            tokens = {author_id: authors.begin(author_id) for author_id in author_ids}
            runs = self._tweets.ids(dict.fromkeys(tokens, TOP), self._cap)
            built = {author_id: self._complete(runs[author_id], frozenset({author_id})) for author_id in tokens}
            for author_id, token in tokens.items():
                if token:
                    authors.commit(author_id, token, built[author_id])
            return built

    def read(self, user_id: str) -> Timeline:
        """Gather a home timeline, and cache nothing."""
        return self._read(user_id, Gathered())

    def far_down(self, author_ids: frozenset[str], below: str, count: int) -> Run:
        """Gather for a page; of so many authors that it costs as much as a rebuild, in a slot."""
        with self._slots.one() if len(author_ids) > CHUNK else nullcontext():
            return self.gather(author_ids, below, count)

    def gather(
        self, author_ids: Iterable[str], below: str, count: int, after_chunk: Callable[[], object] | None = None
    ) -> Run:
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
                if after_chunk:
                    after_chunk()
            wanted = incomplete(runs, count)
            share = min(4 * share, count)
        return union(runs.values(), count=max(count, self._cap))

    def _read(self, user_id: str, gathered: Gathered, after_chunk: Callable[[], object] | None = None) -> Timeline:
        """Read whose tweets the user reads now, and the tweets of those whose are not yet gathered."""
        authors = self._authors.of(user_id, self._cache.noted(user_id))
        if new := authors - gathered.authors:
            gathered.runs.append(self.gather(new, TOP, self._cap, after_chunk))
            gathered.authors |= new
        return self._complete(union(gathered.runs, count=self._cap), authors)

    def _complete(self, run: Run, authors: frozenset[str]) -> Timeline:
        """Add what the index may not have yet."""
        recent = Run(sorted({*self._cache.recent(authors)}, reverse=True), BEGINNING)
        whole = union([run, recent], count=self._cap)
        return Timeline(whole.ids, whole.floor, Shown.of(authors))


def chunks(items: Iterable[str], size: int) -> Iterator[list[str]]:
    """Cut a long sequence into pieces."""
    rest = iter(items)
    while piece := list(islice(rest, size)):
        yield piece
