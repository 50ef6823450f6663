"""What each event does to the timelines.

Rule: every step is safe to repeat, so an event that a store interrupts is delivered again from its beginning. A tweet
is added to its author's recent ones before the author and the followers are read: a demotion or a follow that these
reads missed finds it there. A FollowChanged is only a hint to look at the edge: what the table says now is what the
timeline is made to say.
"""

import logging
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

from contracts import Event, FollowChanged, TweetCreated, TweetDeleted
from contracts.ids import first_id
from fanout_worker.metrics import DONE, INSERTED, LAG, PROMOTED
from murmuration_timelines.celebrities import Author
from murmuration_timelines.layout import CAP
from murmuration_timelines.writer import TimelineWriter

_log = logging.getLogger(__name__)


class Follows(Protocol):
    """Who follows whom."""

    def followers(self, followee_id: str) -> Iterator[list[str]]:
        """Give the followers in pages, strongly consistent; they are read from now on."""

    def follows(self, follower_id: str, followee_id: str) -> bool:
        """Tell whether the edge is there, strongly consistent."""


class Tweets(Protocol):
    """What was said."""

    def latest(self, author_id: str, count: int) -> Iterable[str]:
        """Return the author's newest undeleted ids, as far as the index has them."""


class Celebrities(Protocol):
    """Whose tweets are not pushed."""

    def author(self, user_id: str) -> Author:
        """Return what decides how an author's tweets travel, strongly consistent."""

    def promote(self, user_id: str, since: str) -> bool:
        """Make somebody a celebrity from this id on; False if they are one already."""


class Deliveries:
    """Events into timelines. Safe among threads."""

    def __init__(
        self,
        timelines: TimelineWriter,
        follows: Follows,
        tweets: Tweets,
        celebrities: Celebrities,
        celebrity_threshold: int,
        celebrity_ahead: float,
        *,
        may_be_celebrity: Callable[[str], bool] = lambda _: True,
        now: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
        heartbeat: Callable[[], object] = lambda: None,
    ) -> None:
        """celebrity_threshold: how many followers make a celebrity, celebrity_ahead: in how many seconds.

        may_be_celebrity: whether an author's row is read before a tweet is pushed.
        heartbeat: called after each page of followers, so that the watchdog sees progress.
        """
        self._timelines = timelines
        self._follows = follows
        self._tweets = tweets
        self._celebrities = celebrities
        self._threshold = celebrity_threshold
        self._ahead_ms = int(celebrity_ahead * 1000)
        self._may_be_celebrity = may_be_celebrity
        self._now = now
        self._heartbeat = heartbeat

    def deliver(self, events: Iterable[Event]) -> None:
        """Give every event its effect; StoreAwayError if a store is away: then deliver them all again."""
        for event in events:
            match event:
                case TweetCreated():
                    self.fan_out(event.tweet_id, event.author_id)
                    LAG.observe(max(0, self._now() - event.occurred_at) / 1000)
                case TweetDeleted():
                    self.set_tombstone(event.tweet_id)
                case FollowChanged():
                    self.refresh_followee(event.follower_id, event.followee_id)
            DONE.labels(type(event).__name__).inc()

    def fan_out(self, tweet_id: str, author_id: str) -> None:
        """Bring a tweet to its author's timelines, and unless the author is a celebrity to all that follow them."""
        self._timelines.add_recent(author_id, tweet_id)
        author = self._celebrities.author(author_id) if self._may_be_celebrity(author_id) else Author()
        pages = self._follows.followers(author_id) if author.is_pushed(tweet_id) else iter(())
        inserted, count = self._timelines.insert_own(author_id, tweet_id), 0
        for followers in pages:
            if followers:
                inserted += self._timelines.insert(tweet_id, followers)
            if author.since is None and count < self._threshold <= count + len(followers):
                self._promote(author_id)
            count += len(followers)
            self._heartbeat()
        INSERTED.inc(inserted)

    def refresh_followee(self, follower_id: str, followee_id: str) -> None:
        """Make a timeline say of a followee what the table says.

        Repeat until the edge was the same before and after: so a replay, or another's late hand, does no harm.
        """
        warm = self._timelines.note_change(follower_id, followee_id)
        followed = None
        while warm and followed != (now := self._follows.follows(follower_id, followee_id)):
            followed = now
            if followed:
                latest = {*self._timelines.recent(followee_id), *self._tweets.latest(followee_id, CAP)}
                warm = self._timelines.set_followed(follower_id, followee_id, latest)
            else:
                warm = self._timelines.set_unfollowed(follower_id, followee_id)

    def set_tombstone(self, tweet_id: str) -> None:
        """Let every reader know that a tweet is deleted."""
        self._timelines.set_tombstone(tweet_id)

    def _promote(self, author_id: str) -> None:
        """Whether this worker or another was faster, the first id that is not pushed lies ahead of all readers."""
        since = first_id(self._now() + self._ahead_ms)
        if self._celebrities.promote(author_id, since):
            PROMOTED.inc()
            _log.info("promoted", extra={"author": author_id, "celebrity_since": since})
