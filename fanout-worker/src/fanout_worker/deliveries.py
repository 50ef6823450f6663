"""What each event does to the timelines.

Rule: every step is safe to repeat, so an event is tried from its beginning until all of it is done. A tweet is
remembered among its author's recent ones before the followers are read: a follow that the read missed finds it there.
"""

import logging
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

from contracts import Event, FollowChanged, TweetCreated, TweetDeleted
from fanout_worker.metrics import DONE, INSERTED, LAG, RETRIES

LONGEST_PAUSE = 2.0
_log = logging.getLogger(__name__)


class StoreAwayError(Exception):
    """A store did not answer; what was begun is begun again."""


class Timelines(Protocol):
    """Where tweets go."""

    def remember(self, tweet: TweetCreated, now: int) -> None:
        """Keep the tweet among its author's recent ones, and its body for the readers."""

    def insert(self, tweet_id: str, user_ids: list[str]) -> int:
        """Insert the tweet into these users' timelines, where they are warm; return into how many."""

    def cool(self, user_id: str) -> None:
        """Make a timeline cold; a rebuild that is in progress starts over."""

    def bury(self, tweet_id: str) -> None:
        """Put a tombstone in the place of the body."""


class Followers(Protocol):
    """Whom they go to."""

    def pages(self, followee_id: str) -> Iterator[list[str]]:
        """Give the followers in pages, strongly consistent."""


class Deliveries:
    """Events into timelines. Safe among threads."""

    def __init__(
        self,
        timelines: Timelines,
        followers: Followers,
        now: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._timelines = timelines
        self._followers = followers
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

    def _done(self, event: Event) -> bool:
        try:
            match event:
                case TweetCreated():
                    self._fan_out(event)
                case TweetDeleted():
                    self._timelines.bury(event.tweet_id)
                case FollowChanged():
                    self._timelines.cool(event.follower_id)
        except StoreAwayError as error:
            RETRIES.inc()
            _log.warning("retrying", extra={"event_id": event.event_id, "reason": str(error)})
            return False
        return True

    def _fan_out(self, tweet: TweetCreated) -> None:
        self._timelines.remember(tweet, self._now())
        inserted = self._timelines.insert(tweet.tweet_id, [tweet.author_id])
        for followers in self._followers.pages(tweet.author_id):
            if followers:
                inserted += self._timelines.insert(tweet.tweet_id, followers)
        INSERTED.inc(inserted)
        LAG.observe(max(0, self._now() - tweet.occurred_at) / 1000)
