"""What timeline-service reads, and what it builds where something is missing. Redis may forget anything at any time.

Rule of a rebuild: first `begin` leaves a marker, then everything is read from the database, then `commit` puts the
timeline in the marker's place, and only there. A tweet that arrives after the marker lands above it and is merged in;
one that arrived before it is among its author's recent ones. A follow that changes after the marker changes that, and
`commit` is refused until `renew` has said that the follows are read again; one that changed before is in the table, and
noted where the index lags. A marker that is not renewed is gone after seconds, and with it the right to commit.
"""

import random
import time
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from murmuration_runtime.redis_nodes import Item, Nodes
from murmuration_timelines import layout
from murmuration_timelines.layout import BEGINNING, MARKER, VERSION
from murmuration_timelines.merge import Timeline
from murmuration_timelines.scripts import BEGIN, BODIES, COMMIT, FILL, LOAD, RECENT, RENEW
from murmuration_timelines.tweets import Tweet


class CachedTimelines:
    """One kind of timeline: the home timelines, or the authors' own."""

    def __init__(self, nodes: Nodes, version: str, keys: Callable[[str], Item], lifetime: Callable[[], int]) -> None:
        """Take how the two keys of an owner are named, and for how many seconds a timeline lives that is built now."""
        self._nodes = nodes
        self._version = version
        self._keys = keys
        self._lifetime = lifetime

    def load(self, owner_ids: Iterable[str], count: int | None = None) -> dict[str, Timeline]:
        """Return the warm ones, with all of their ids or so many of the newest. A read renews the expiry."""
        owners = {self._keys(owner_id): owner_id for owner_id in owner_ids}
        args = (self._version, count or 0, layout.TIMELINE_SECONDS, layout.PROVISIONAL_SECONDS)
        with self._nodes.errors_named():
            answers = self._nodes.gather(LOAD, args, [*owners])
        found = (pair for items, answer in answers for pair in zip(items, answer, strict=True))
        return {owners[item]: _timeline(*loaded) for item, loaded in found if loaded}

    def begin(self, owner_id: str) -> str | None:
        """Mark a rebuild and return its token; None if the timeline is warm already, or another rebuild is on."""
        token = uuid.uuid4().hex
        args = (self._version, token, layout.REBUILD_SECONDS)
        with self._nodes.errors_named():
            begun = self._nodes.call(BEGIN, self._keys(owner_id), args)
        return token if begun else None

    def renew(self, owner_id: str, token: str, *, look_again: bool = False) -> bool:
        """Let the marker live on; False if it is gone. look_again: takes its "~" off, to read the follows again."""
        args = (self._version, token, layout.REBUILD_SECONDS, int(look_again))
        with self._nodes.errors_named():
            return bool(self._nodes.call(RENEW, self._keys(owner_id)[:1], args))

    def commit(self, owner_id: str, token: str, timeline: Timeline) -> bool:
        """Put the timeline in its place, among what arrived; False if a follow changed, or the marker is gone."""
        ids = [*timeline.ids, *([BEGINNING] if timeline.floor == BEGINNING else [])]
        args: list[str | int] = [self._version, token, self._lifetime(), len(ids), *ids, *timeline.followees]
        with self._nodes.errors_named():
            return bool(self._nodes.call(COMMIT, self._keys(owner_id), args))


class TimelineReader:
    """Timelines, recent tweets, notes and bodies."""

    def __init__(self, nodes: Nodes, clock: Callable[[], float] = time.monotonic, version: int = VERSION) -> None:
        self._nodes = nodes
        self._clock = clock
        self._version = layout.version_text(version)
        self._histories: set[str] = set()
        self._settled = clock()
        self.home = self._timelines(layout.home_timeline, layout.followees)
        self.authors = self._timelines(layout.author_timeline, layout.author_followees)

    def check(self) -> None:
        """Raise RedisAwayError unless Redis answers, and RedisRefusedError unless it lets us read a timeline."""
        self._nodes.check(lambda: self.home.load([layout.NOBODY]))

    def noted(self, user_id: str) -> list[str]:
        """Return the followees whose edge changed lately: an index may not know yet."""
        with self._nodes.errors_named():
            return [*self._nodes.members(layout.noted(user_id))]

    def recent(self, author_ids: Iterable[str]) -> list[str]:
        """Return the latest ids of these authors, in no order: an index may not have them yet."""
        with self._nodes.errors_named():
            answers = self._nodes.gather(RECENT, (), [(layout.recent(author_id),) for author_id in author_ids])
        if histories := {answer[0] for _, answer in answers} - self._histories:
            self._histories |= histories
            self._settled = self._clock() + layout.SETTLING_SECONDS
        return [tweet_id for _, answer in answers for tweet_id in answer[1:]]

    def bodies(self, tweet_ids: Sequence[str]) -> tuple[dict[str, Tweet | None], dict[str, str]]:
        """Return what is known of these tweets, None for a deleted one; and of the others a right to fill each.

        Of a tweet whose node does not answer neither: the other nodes serve all the same.
        """
        ids = {layout.body(tweet_id): tweet_id for tweet_id in tweet_ids}
        with self._nodes.errors_named():
            answers = self._nodes.gather(BODIES, (self._version,), [(key,) for key in ids], whole=False)
        known: dict[str, Tweet | None] = {}
        rights: dict[str, str] = {}
        for items, texts in answers:
            for (key, *_), text in zip(items, texts, strict=True):
                if text.startswith(MARKER):
                    rights[ids[key]] = text
                else:
                    author_id, _, shown = text.partition(" ")
                    known[ids[key]] = Tweet(ids[key], author_id, shown) if text else None
        return known, rights

    def fill(self, rights: Mapping[str, str], tweets: Mapping[str, Tweet]) -> None:
        """Remember what the table said after the rights were given: these tweets, and that the others are gone."""
        texts = {tweet_id: f"{tweet.author_id} {tweet.shown}" for tweet_id, tweet in tweets.items()}
        items = [(layout.body(tweet_id), right, texts.get(tweet_id, "")) for tweet_id, right in rights.items()]
        with self._nodes.errors_named():
            self._nodes.gather(FILL, (self._version, layout.BODY_SECONDS, layout.TOMBSTONE_SECONDS), items)

    def _timelines(self, timeline: Callable[[str], str], followees: Callable[[str], str]) -> CachedTimelines:
        def keys(owner_id: str) -> Item:
            return timeline(owner_id), followees(owner_id)

        return CachedTimelines(self._nodes, self._version, keys, self._lifetime)

    def _lifetime(self) -> int:
        """Keep what is built now for long, unless recent tweets were lost so lately that an index may lack them."""
        if self._clock() < self._settled:  # not all at once are built again
            return random.randint(layout.PROVISIONAL_SECONDS // 2, layout.PROVISIONAL_SECONDS)
        return layout.TIMELINE_SECONDS


def connect(url: str, **options: Any) -> Nodes:
    """Make a client that gives up soon: the database knows it all."""
    return Nodes(url, connect_timeout=0.5, timeout=0.5, **options)


def _timeline(ids: str, followees: str) -> Timeline:
    down = ids.split(" ")
    _prefix, _, known = followees.partition(" ")
    return Timeline(down[:-1] if down[-1] == BEGINNING else down, down[-1], frozenset(known.split()))
