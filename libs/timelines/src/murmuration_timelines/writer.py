"""What fanout-worker writes. Each write is safe to repeat, and in any order.

Rule: a tweet is added to its author's recent ones before anybody's followers are read, and every insertion comes after
that. So whoever begins to follow, or to rebuild a timeline, after the followers were read finds the tweet there.
"""

from collections.abc import Collection, Iterable
from typing import Any

from murmuration_runtime.redis_nodes import Nodes
from murmuration_timelines import layout
from murmuration_timelines.scripts import AGREE, INSERT


class TimelineWriter:
    """Home timelines, authors' own timelines and recent tweets, notes, and tombstones."""

    def __init__(self, nodes: Nodes) -> None:
        self._nodes = nodes

    def check(self) -> None:
        """Raise RedisAwayError unless Redis answers, and RedisRefusedError unless it lets us write a timeline."""
        self._nodes.check(lambda: self.insert("", [layout.NOBODY]))

    def add_recent(self, author_id: str, tweet_id: str) -> None:
        """Keep the tweet among its author's recent ones."""
        key = layout.recent(author_id)
        with self._nodes.errors_named(), self._nodes.client.pipeline(transaction=False) as pipeline:
            pipeline.zadd(key, {tweet_id: 0})  # one score: the order is that of the ids
            pipeline.zremrangebyrank(key, 0, -layout.RECENT - 1)
            pipeline.expire(key, layout.RECENT_SECONDS)
            pipeline.execute()

    def recent(self, author_id: str) -> list[str]:
        """Return the author's latest ids: the index may not have them yet."""
        with self._nodes.errors_named():
            return [str(tweet_id) for tweet_id in self._nodes.client.zrange(layout.recent(author_id), 0, -1)]

    def insert_own(self, author_id: str, tweet_id: str) -> int:
        """Insert the tweet into its author's two timelines, where they are warm; return into how many."""
        return self._insert(tweet_id, [layout.author_timeline(author_id), layout.home_timeline(author_id)])

    def insert(self, tweet_id: str, user_ids: Iterable[str]) -> int:
        """Insert the tweet into these users' home timelines, where they are warm; return into how many at least."""
        return self._insert(tweet_id, map(layout.home_timeline, user_ids))

    def note_change(self, follower_id: str, followee_id: str) -> bool:
        """Note that this edge changed; return whether there is a timeline, or a rebuild of one, that it concerns."""
        key = layout.noted(follower_id)
        with self._nodes.errors_named(), self._nodes.client.pipeline(transaction=False) as pipeline:
            pipeline.sadd(key, followee_id)
            pipeline.expire(key, layout.NOTE_SECONDS)
            pipeline.exists(layout.home_timeline(follower_id))
            return bool(pipeline.execute()[-1])

    def set_followed(self, follower_id: str, followee_id: str, tweet_ids: Collection[str]) -> bool:
        """Let a warm timeline show a followee, whose latest tweets these are; False if it is cold."""
        return self._agree(follower_id, followee_id, "1", sorted(tweet_ids, reverse=True))

    def set_unfollowed(self, follower_id: str, followee_id: str) -> bool:
        """Let a warm timeline show a followee no longer; False if it is cold."""
        return self._agree(follower_id, followee_id, "0", ())

    def set_tombstone(self, tweet_id: str) -> None:
        """Let every reader know that the tweet is deleted."""
        with self._nodes.errors_named():
            self._nodes.client.set(layout.body(tweet_id), "", ex=layout.TOMBSTONE_SECONDS)

    def _insert(self, tweet_id: str, keys: Iterable[str]) -> int:
        with self._nodes.errors_named():
            answers = self._nodes.gather(INSERT, (tweet_id, layout.CAP, layout.SLACK), [(key,) for key in keys])
        return sum(count for _, count in answers)

    def _agree(self, follower_id: str, followee_id: str, followed: str, tweet_ids: Collection[str]) -> bool:
        keys = [layout.home_timeline(follower_id), layout.followees(follower_id)]
        with self._nodes.errors_named():
            return bool(self._nodes.call(AGREE, keys, [followee_id, followed, layout.CAP, *tweet_ids]))


def connect(url: str, **options: Any) -> Nodes:
    """Make a client that gives up within seconds: whoever writes tries again."""
    return Nodes(url, connect_timeout=2, timeout=4, **options)
