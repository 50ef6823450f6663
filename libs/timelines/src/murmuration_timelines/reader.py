"""What timeline-service reads, and what it builds where something is missing. Redis may forget anything at any time."""

import random
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from contracts.ids import first_id
from murmuration_runtime.redis_nodes import Item, Nodes
from murmuration_runtime.redis_settled import RedisSettled
from murmuration_timelines import layout
from murmuration_timelines.edges import PARTITIONS
from murmuration_timelines.layout import MARKER, VERSION
from murmuration_timelines.read_ahead import ReadAhead
from murmuration_timelines.redis_timelines import CachedTimelines
from murmuration_timelines.scripts import BODIES, FILL, RECENT
from murmuration_timelines.tweets import Tweet


class TimelineReader:
    """Timelines, recent tweets, notes and bodies."""

    def __init__(
        self,
        nodes: Nodes,
        clock: Callable[[], float] = time.monotonic,
        version: int = VERSION,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._nodes = nodes
        self._clock = clock
        self._now = now
        self._version = layout.version_text(version)
        self._histories: set[str] = set()
        self._settled = clock()
        self._edges = RedisSettled(nodes, layout.EDGES_SETTLED, PARTITIONS)
        self.home = self._timelines(layout.home_timeline, layout.home_shown, layout.followees)
        self.authors = self._timelines(layout.author_timeline, layout.author_shown, layout.author_followees)

    def check(self) -> None:
        """Raise RedisAwayError unless Redis answers, and RedisRefusedError unless it lets us read a timeline."""
        self._nodes.check(self._load_nobody)

    def check_pages(self) -> None:
        """Raise the same unless it lets us read all else that pages do: rights of which `check` needs none."""

        def use() -> None:
            self._load_nobody()
            self.noted(layout.NOBODY)
            self.edges_settled()
            self.read_ahead(layout.NOBODY)

        self._nodes.check(use)

    def noted(self, user_id: str) -> list[str]:
        """Return the followees whose edge changed lately: an index may not know yet."""
        with self._nodes.errors_named():
            return [*self._nodes.command("SMEMBERS", layout.noted(user_id))]

    def edges_settled(self) -> int:
        """Return until when (ms) all edges are settled; 0 if nobody knows."""
        return self._edges.until()

    def read_ahead(self, user_id: str) -> ReadAhead | None:
        """Return what was read for a user below their list, and is kept."""
        with self._nodes.errors_named():
            text = self._nodes.command("GET", layout.read_ahead(user_id)) or ""
        own = MARKER + self._version
        return ReadAhead.read(text.removeprefix(own)) if text.startswith(own) else None

    def keep_ahead(self, user_id: str, ahead: ReadAhead) -> None:
        """Keep what was read, for a while."""
        text = f"{MARKER}{self._version}{ahead.text()}"
        with self._nodes.errors_named():
            self._nodes.command("SET", layout.read_ahead(user_id), text, "EX", layout.READ_AHEAD_SECONDS)

    def recent(self, author_ids: Iterable[str]) -> list[str]:
        """Return the ids of these authors that are younger than their sets, in no order: an index has the others."""
        youngest = first_id(int((self._now() - layout.RECENT_SECONDS) * 1000))
        with self._nodes.errors_named():
            answers = self._nodes.gather(RECENT, (youngest,), [(layout.recent(author_id),) for author_id in author_ids])
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
        seconds = layout.BODY_SECONDS, layout.TOMBSTONE_SECONDS, layout.RIGHT_SECONDS
        with self._nodes.errors_named():
            self._nodes.gather(FILL, (self._version, *seconds), items)

    def _load_nobody(self) -> None:
        self.home.load([layout.NOBODY])
        with self._nodes.errors_named():
            self._nodes.command("LLEN", layout.home_timeline(layout.NOBODY))  # of a warm one load asks that, too

    def _timelines(self, *names: Callable[[str], str]) -> CachedTimelines:
        def keys(owner_id: str) -> Item:
            return tuple(name(owner_id) for name in names)

        return CachedTimelines(self._nodes, self._version, keys, self._lifetime, self._now)

    def _lifetime(self) -> int:
        """Keep what is built now for long, unless recent tweets were lost so lately that an index may lack them."""
        if self._clock() < self._settled:  # not all at once are built again
            return random.randint(layout.PROVISIONAL_SECONDS // 2, layout.PROVISIONAL_SECONDS)
        return layout.TIMELINE_SECONDS


def connect(url: str, **options: Any) -> Nodes:
    """Make a client that gives up soon: the database knows it all."""
    return Nodes(url, connect_timeout=0.5, timeout=0.5, **options)
