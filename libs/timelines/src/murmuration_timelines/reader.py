"""Timelines, recent tweets and bodies in Redis, which may forget anything at any time.

Rule: whatever is written names the history of the node that it is written to. Under another history it counts as not
there, but for tombstones: a restart from disk, or a replica that lagged and was promoted, may have holes.
"""

import random
import time
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from timeline_service import layout
from timeline_service.nodes import Item, Nodes, Script
from timeline_service.timeline import BEGINNING, CacheAwayError, Timeline, Tweet

_script = partial(Script, "history.lua")
LOAD = _script("load.lua", keys=2)
BEGIN, RENEW, COMMIT = map(_script, ("begin.lua", "renew.lua", "commit.lua"))
RECENT, BODIES, FILL = map(_script, ("recent.lua", "bodies.lua", "fill.lua"))


class RedisTimelines:
    """One kind of timeline."""

    def __init__(self, nodes: Nodes, names: Callable[[str], Item], lives: Callable[[], int]) -> None:
        """Take how its two keys are named by owner, and how many seconds one lives that is committed now."""
        self._nodes = nodes
        self._names = names
        self._lives = lives

    def load(self, owner_ids: Iterable[str], count: int | None = None) -> dict[str, Timeline]:
        """Return the warm ones, with all of their ids or so many of the newest. A read renews the expiry."""
        owners = {self._names(owner_id): owner_id for owner_id in owner_ids}
        args = (count or 0, layout.TIMELINE_SECONDS, layout.PROVISIONAL_SECONDS)
        with self._nodes.named(CacheAwayError):
            answers = self._nodes.gather(LOAD, args, [*owners])
        found = (pair for items, answer in answers for pair in zip(items, answer, strict=True))
        return {owners[item]: _timeline(*loaded) for item, loaded in found if loaded}

    def begin(self, owner_id: str) -> str | None:
        """Mark a rebuild and return its token; None if another rebuild is in progress or was faster."""
        token = uuid.uuid4().hex
        with self._nodes.named(CacheAwayError):
            begun = self._nodes.call(BEGIN, self._names(owner_id), [token, layout.REBUILD_SECONDS])
        return token if begun else None

    def renew(self, owner_id: str, token: str, *, look_again: bool = False) -> bool:
        """Let the mark live on for another while; False if it is gone. Looking again, forget that a follow changed."""
        args = (token, layout.REBUILD_SECONDS, int(look_again))
        with self._nodes.named(CacheAwayError):
            return bool(self._nodes.call(RENEW, self._names(owner_id)[:1], args))

    def commit(self, owner_id: str, token: str, timeline: Timeline) -> bool:
        """Put the timeline in its place, among what arrived; False if a follow changed, or the mark is gone."""
        ids = [*timeline.ids, *([BEGINNING] if timeline.floor == BEGINNING else [])]
        args: list[str | int] = [token, self._lives(), len(ids), *ids, *timeline.following]
        with self._nodes.named(CacheAwayError):
            return bool(self._nodes.call(COMMIT, self._names(owner_id), args))


class RedisCache:
    """The Cache."""

    def __init__(self, nodes: Nodes, clock: Callable[[], float] = time.monotonic) -> None:
        self._nodes = nodes
        self._clock = clock
        self._histories: set[str] = set()
        self._settled = clock()
        self.home = RedisTimelines(nodes, lambda u: (layout.home_timeline(u), layout.following(u)), self._lives)
        self.authors = RedisTimelines(
            nodes, lambda a: (layout.author_timeline(a), layout.author_following(a)), self._lives
        )

    def check(self) -> None:
        """Raise CacheAwayError unless Redis answers."""
        with self._nodes.named(CacheAwayError):
            self._nodes.client.ping()

    def noted(self, user_id: str) -> list[str]:
        """Return the followees whose edge changed lately: an index may not know yet."""
        with self._nodes.named(CacheAwayError):
            return [str(followee_id) for followee_id in self._nodes.client.smembers(layout.noted(user_id))]

    def recent(self, author_ids: Iterable[str]) -> list[str]:
        """Return the latest ids of these authors, in no order: an index may not have them yet."""
        with self._nodes.named(CacheAwayError):
            answers = self._nodes.gather(RECENT, (), [(layout.recent(author_id),) for author_id in author_ids])
        if histories := {answer[0] for _, answer in answers} - self._histories:
            self._histories |= histories
            self._settled = self._clock() + layout.SETTLING_SECONDS
        return [tweet_id for _, answer in answers for tweet_id in answer[1:]]

    def bodies(self, tweet_ids: Sequence[str]) -> tuple[dict[str, Tweet | None], dict[str, str]]:
        """Return what is known of these tweets, None for a deleted one; and of the others a right to fill each."""
        ids = {layout.body(tweet_id): tweet_id for tweet_id in tweet_ids}
        with self._nodes.named(CacheAwayError):
            answers = self._nodes.gather(BODIES, (), [(key,) for key in ids])
        known: dict[str, Tweet | None] = {}
        rights: dict[str, str] = {}
        for items, texts in answers:
            for (key, *_), text in zip(items, texts, strict=True):
                if text.startswith("!"):
                    rights[ids[key]] = text
                else:
                    author_id, _, shown = text.partition(" ")
                    known[ids[key]] = Tweet(ids[key], author_id, shown) if text else None
        return known, rights

    def fill(self, rights: Mapping[str, str], tweets: Mapping[str, Tweet]) -> None:
        """Remember what the table said after the rights were given: these tweets, and that the others are gone."""
        texts = {tweet_id: f"{tweet.author_id} {tweet.shown}" for tweet_id, tweet in tweets.items()}
        items = [(layout.body(tweet_id), right, texts.get(tweet_id, "")) for tweet_id, right in rights.items()]
        with self._nodes.named(CacheAwayError):
            self._nodes.gather(FILL, (layout.BODY_SECONDS, layout.TOMBSTONE_SECONDS), items)

    def _lives(self) -> int:
        """Keep what is built now for long, unless recent tweets were lost so lately that an index may lack them."""
        if self._clock() < self._settled:  # not all at once are built again
            return random.randint(layout.PROVISIONAL_SECONDS // 2, layout.PROVISIONAL_SECONDS)
        return layout.TIMELINE_SECONDS


def connect(url: str) -> Nodes:
    """Build a client that gives up soon: the database knows it all."""
    return Nodes(url, connect_timeout=0.5, timeout=1)


def _timeline(ids: str, following: str) -> Timeline:
    down = ids.split(" ")
    _history, _, known = following.partition(" ")
    return Timeline(down[:-1] if down[-1] == BEGINNING else down, down[-1], frozenset(known.split()))
