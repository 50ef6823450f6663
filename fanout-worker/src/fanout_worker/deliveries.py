"""What each event does to the timelines.

Rule: every step is safe to repeat, so an event is tried from its beginning until all of it is done. A tweet is
remembered among its author's recent ones before the author and the followers are read: a demotion or a follow that
these reads missed finds it there. A FollowChanged is only a hint to look at the edge: what the table says now is what
the timeline is made to say.
"""

import logging
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Protocol

from contracts import Event, FollowChanged, TweetCreated, TweetDeleted
from contracts.ids import first_id
from fanout_worker.celebrities import Author, is_pushed
from fanout_worker.layout import CAP
from fanout_worker.metrics import DONE, INSERTED, LAG, PROMOTED, RETRIES
from murmuration_runtime import errors

LONGEST_PAUSE = 2.0
_log = logging.getLogger(__name__)


class StoreAwayError(errors.StoreAwayError):
    """A store did not answer; what was begun is begun again."""


class Timelines(Protocol):
    """Where tweets go."""

    def remember(self, author_id: str, tweet_id: str) -> None:
        """Keep the tweet among its author's recent ones."""

    def own(self, author_id: str, tweet_id: str) -> int:
        """Insert the tweet into its author's timelines, where they are warm; return into how many."""

    def insert(self, tweet_id: str, user_ids: list[str]) -> int:
        """Insert the tweet into these users' timelines, where they are warm; return into how many."""

    def note(self, follower_id: str, followee_id: str) -> bool:
        """Note that this edge changed; return whether there is a timeline, or a rebuild of one, that it concerns."""

    def recent(self, author_id: str) -> Iterable[str]:
        """Return the author's latest ids: the index may not have them yet."""

    def agree(self, follower_id: str, followee_id: str, tweet_ids: Collection[str] | None) -> bool:
        """Let a timeline show a followee, with these tweets of theirs, or None: no longer. False if it is cold."""

    def bury(self, tweet_id: str) -> None:
        """Put a tombstone in the place of the body."""


class Tables(Protocol):
    """Whom they go to, and what was said."""

    def author(self, user_id: str) -> Author:
        """Return what decides how an author's tweets travel, strongly consistent."""

    def promote(self, user_id: str, since: str) -> bool:
        """Make somebody a celebrity from this id on; False if they are one already."""

    def followers(self, followee_id: str) -> Iterator[list[str]]:
        """Give the followers in pages, strongly consistent; they are read from now on."""

    def follows(self, follower_id: str, followee_id: str) -> bool:
        """Tell whether the edge is there, strongly consistent."""

    def latest(self, author_id: str, count: int) -> Iterable[str]:
        """Return the author's newest undeleted ids, as far as the index has them."""


class Deliveries:
    """Events into timelines. Safe among threads."""

    def __init__(
        self,
        timelines: Timelines,
        tables: Tables,
        celebrity_threshold: int,
        celebrity_ahead: float,
        may_be_celebrity: Callable[[str], bool] = lambda _: True,
        now: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
        sleep: Callable[[float], None] = time.sleep,
        alive: Callable[[], object] = lambda: None,
    ) -> None:
        """Take how many followers make a celebrity, how many seconds ahead, and who is looked up for it at all.

        Alive hears that work goes on.
        """
        self._timelines = timelines
        self._tables = tables
        self._threshold = celebrity_threshold
        self._may_be_celebrity = may_be_celebrity
        self._ahead_ms = int(celebrity_ahead * 1000)
        self._alive = alive
        self._now = now
        self._sleep = sleep

    def deliver(self, events: Iterable[Event]) -> None:
        """Return when every event has had its effect. Blocks while a store is away."""
        for event in events:
            pause = 0.05
            while not self._done(event):
                self._sleep(pause)
                pause = min(LONGEST_PAUSE, pause * 2)
            DONE.labels(type(event).__name__).inc()

    def fan_out(self, tweet_id: str, author_id: str) -> None:
        """Bring a tweet to its author's timelines, and unless the author is a celebrity to all that follow them."""
        self._timelines.remember(author_id, tweet_id)
        author = self._tables.author(author_id) if self._may_be_celebrity(author_id) else Author()
        pushed = is_pushed(tweet_id, author.since, author.until)
        pages = self._tables.followers(author_id) if pushed else iter(())
        inserted, count = self._timelines.own(author_id, tweet_id), 0
        for followers in pages:
            if followers:
                inserted += self._timelines.insert(tweet_id, followers)
            if author.since is None and count < self._threshold <= count + len(followers):
                self._promote(author_id)
            count += len(followers)
            self._alive()
        INSERTED.inc(inserted)

    def settle(self, follower_id: str, followee_id: str) -> None:
        """Make a timeline say of a followee what the table says.

        Repeat until the edge was the same before and after: so a replay, or another's late hand, does no harm.
        """
        warm = self._timelines.note(follower_id, followee_id)
        followed = None
        while warm and followed != (now := self._tables.follows(follower_id, followee_id)):
            followed = now
            ids = {*self._timelines.recent(followee_id), *self._tables.latest(followee_id, CAP)} if followed else None
            warm = self._timelines.agree(follower_id, followee_id, ids)

    def bury(self, tweet_id: str) -> None:
        """Have every reader hear that the tweet is gone."""
        self._timelines.bury(tweet_id)

    def _done(self, event: Event) -> bool:
        try:
            match event:
                case TweetCreated():
                    self.fan_out(event.tweet_id, event.author_id)
                    LAG.observe(max(0, self._now() - event.occurred_at) / 1000)
                case TweetDeleted():
                    self.bury(event.tweet_id)
                case FollowChanged():
                    self.settle(event.follower_id, event.followee_id)
        except StoreAwayError as error:
            RETRIES.inc()
            _log.warning("retrying", extra={"event_id": event.event_id, "reason": str(error)})
            return False
        finally:
            self._alive()
        return True

    def _promote(self, author_id: str) -> None:
        """Whether this worker or another was faster, the first id that is not pushed lies ahead of all readers."""
        since = first_id(self._now() + self._ahead_ms)
        if self._tables.promote(author_id, since):
            PROMOTED.inc()
            _log.info("promoted", extra={"author": author_id, "celebrity_since": since})
