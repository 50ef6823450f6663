"""What each event does to the timelines.

Rule: every step is safe to repeat, so an event that a store interrupts is delivered again, a tweet from the page of
followers that it has reached. A node of Redis that does not answer holds up nobody on the others: the first try of a
tweet goes on to its last follower, and fails then. A tweet is added to its author's recent ones before the author and
the followers are read: a demotion or a follow that these reads missed finds it there. Where that failed no follower
counts as reached. A FollowChanged or MuteChanged is only a hint to look at the rows: what the tables say now is what
the timeline is made to say, unless another hand was faster; then they are looked at again. All that changed of one
followee is looked at together. A block needs nothing here: it takes the follows of both away in its own transaction.
"""

import logging
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, MutableMapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Protocol

from contracts import Event, FollowChanged, MuteChanged, TweetCreated, TweetDeleted
from contracts.ids import first_id
from fanout_worker.metrics import DELETION_LAG, DONE, INSERTED, LAG, PROMOTED
from murmuration_runtime.errors import RedisAwayError
from murmuration_timelines.celebrities import Author
from murmuration_timelines.layout import CAP
from murmuration_timelines.writer import TimelineWriter

_log = logging.getLogger(__name__)


class Follows(Protocol):
    """Who follows whom."""

    def followers(self, followee_id: str, after: str | None = None) -> Iterator[list[str]]:
        """Give the followers, or those after one of them, in pages, strongly consistent; they are read from now on."""

    def followers_among(self, followee_id: str, user_ids: Collection[str]) -> set[str]:
        """Return who of some users follows somebody, strongly consistent."""


class Mutes(Protocol):
    """Who has muted whom."""

    def muters_among(self, muted_id: str, user_ids: Collection[str]) -> set[str]:
        """Return who of some users has muted somebody, strongly consistent."""


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


@dataclass
class Reach:
    """How far a tweet has come."""

    last: str | None = None  # of the followers whose page was written, as all before it
    followers: int = 0  # up to there
    ended: bool = False  # a try came to the last page, whatever Redis did not take


class Faults:
    """What Redis did not take while everything else is tried."""

    def __init__(self) -> None:
        self.first: RedisAwayError | None = None

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Go on after a fault."""
        try:
            yield
        except RedisAwayError as fault:
            self.first = self.first or fault

    def end(self) -> None:
        """Raise the first."""
        if self.first:
            raise self.first


class Deliveries:
    """Events into timelines. Safe among threads."""

    def __init__(
        self,
        timelines: TimelineWriter,
        follows: Follows,
        mutes: Mutes,
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

        may_be_celebrity: whether an author's row is worth a read.
        heartbeat: called after each page of followers, so that the watchdog sees progress.
        """
        self._timelines = timelines
        self._follows = follows
        self._mutes = mutes
        self._tweets = tweets
        self._celebrities = celebrities
        self._threshold = celebrity_threshold
        self._ahead_ms = int(celebrity_ahead * 1000)
        self._may_be_celebrity = may_be_celebrity
        self._now = now
        self._heartbeat = heartbeat

    def deliver(self, events: Collection[Event], reached: MutableMapping[str, Reach] | None = None) -> None:
        """Give every event its effect; StoreAwayError if a store is away: then deliver them all again.

        reached: how far each tweet came in earlier tries.
        """
        reached = {} if reached is None else reached
        changed: defaultdict[str, list[str]] = defaultdict(list)
        faults = Faults()
        for event in events:
            with faults.kept():
                match event:
                    case TweetCreated():
                        self.fan_out(event.tweet_id, event.author_id, reached.setdefault(event.tweet_id, Reach()))
                        LAG.observe(max(0, self._now() - event.occurred_at) / 1000)
                    case TweetDeleted():
                        self.set_tombstone(event.tweet_id)
                        deleted_at = event.recorded_at if event.occurred_at is None else event.occurred_at
                        if deleted_at is not None:
                            DELETION_LAG.observe(max(0, self._now() - deleted_at) / 1000)
                    case FollowChanged():
                        changed[event.followee_id].append(event.follower_id)
                    case MuteChanged():
                        changed[event.muted_id].append(event.muter_id)
        for followee_id, follower_ids in changed.items():
            with faults.kept():
                self.refresh_followee(followee_id, follower_ids)
        faults.end()
        for event in events:
            DONE.labels(type(event).__name__).inc()

    def fan_out(self, tweet_id: str, author_id: str, reach: Reach | None = None) -> None:
        """Bring a tweet to its author's timelines, and unless the author is a celebrity to all that follow them."""
        reach = reach or Reach()
        faults = Faults()
        trying = nullcontext if reach.ended else faults.kept
        with trying():
            self._timelines.add_recent(author_id, tweet_id)
        author = self._author(author_id)
        pages = self._follows.followers(author_id, reach.last) if author.is_pushed(tweet_id) else iter(())
        with trying():
            INSERTED.inc(self._timelines.insert_own(author_id, tweet_id))
        count = reach.followers
        for followers in filter(None, pages):
            with trying():
                INSERTED.inc(self._timelines.insert(tweet_id, followers))
            before, count = count, count + len(followers)
            if author.since is None and before < self._threshold <= count:
                self._promote(author_id)
            if not faults.first:
                reach.last, reach.followers = followers[-1], count
            self._heartbeat()
        reach.ended = True
        faults.end()

    def refresh_followee(self, followee_id: str, follower_ids: Collection[str]) -> None:
        """Make the timelines of these users show a followee whom they follow and have not muted, and else not.

        Repeat it for whom another hand was faster: nobody writes what they read before another did. Whose node does not
        answer is left to the next try.
        """
        silent: set[str] = set()
        while noted := self._timelines.note(followee_id, follower_ids, silent=silent):
            followers = self._follows.followers_among(followee_id, noted)
            readers = followers - self._mutes.muters_among(followee_id, followers)
            latest = self._latest(followee_id) if readers else ()
            follower_ids = self._timelines.agree(followee_id, noted, readers, latest, silent=silent)
        if silent:
            raise RedisAwayError(f"a node of Redis did not answer about {len(silent)} followers of {followee_id}")

    def set_tombstone(self, tweet_id: str) -> None:
        """Let every reader know that a tweet is deleted."""
        self._timelines.set_tombstone(tweet_id)

    def _author(self, author_id: str) -> Author:
        """Return what decides how an author's tweets travel; most are read from no table."""
        return self._celebrities.author(author_id) if self._may_be_celebrity(author_id) else Author()

    def _latest(self, author_id: str) -> set[str]:
        """Return the author's newest ids, none of a celebrity: readers merge those.

        The index may lack the latest, which are among the recent ones.
        """
        if not self._author(author_id).is_pushed(first_id(self._now())):
            return set()
        return {*self._timelines.recent(author_id), *self._tweets.latest(author_id, CAP)}

    def _promote(self, author_id: str) -> None:
        """Whether this worker or another was faster, the first id that is not pushed lies ahead of all readers."""
        since = first_id(self._now() + self._ahead_ms)
        if self._celebrities.promote(author_id, since):
            PROMOTED.inc()
            _log.info("promoted", extra={"author": author_id, "celebrity_since": since})
