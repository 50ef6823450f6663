"""The timelines in Redis: each write is safe to repeat, and in any order."""

from collections.abc import Collection, Iterable

from fanout_worker import layout
from fanout_worker.deliveries import StoreAwayError
from fanout_worker.nodes import Nodes, Script

INSERT, AGREE = Script("insert.lua"), Script("agree.lua")


class Timelines:
    """Home timelines, authors' recent tweets, and tombstones."""

    def __init__(self, nodes: Nodes) -> None:
        self._nodes = nodes

    def check(self) -> None:
        """Raise StoreAwayError unless Redis answers."""
        with self._nodes.named(StoreAwayError):
            self._nodes.client.ping()

    def remember(self, author_id: str, tweet_id: str) -> None:
        """Keep the tweet among its author's recent ones."""
        key = layout.recent(author_id)
        with self._nodes.named(StoreAwayError), self._nodes.client.pipeline(transaction=False) as pipeline:
            pipeline.zadd(key, {tweet_id: 0})  # one score: the order is that of the ids
            pipeline.zremrangebyrank(key, 0, -layout.RECENT - 1)
            pipeline.expire(key, layout.RECENT_SECONDS)
            pipeline.execute()

    def own(self, author_id: str, tweet_id: str) -> int:
        """Insert the tweet into its author's timelines, where they are warm; return into how many."""
        return self._place(tweet_id, [layout.author_timeline(author_id), layout.home_timeline(author_id)])

    def insert(self, tweet_id: str, user_ids: Iterable[str]) -> int:
        """Insert the tweet into these users' timelines, where they are warm; return into how many at least."""
        return self._place(tweet_id, map(layout.home_timeline, user_ids))

    def note(self, follower_id: str, followee_id: str) -> bool:
        """Note that this edge changed; return whether there is a timeline, or a rebuild of one, that it concerns."""
        key = layout.noted(follower_id)
        with self._nodes.named(StoreAwayError), self._nodes.client.pipeline(transaction=False) as pipeline:
            pipeline.sadd(key, followee_id)
            pipeline.expire(key, layout.NOTE_SECONDS)
            pipeline.exists(layout.home_timeline(follower_id))
            return bool(pipeline.execute()[-1])

    def recent(self, author_id: str) -> list[str]:
        """Return the author's latest ids: the index may not have them yet."""
        with self._nodes.named(StoreAwayError):
            return [str(tweet_id) for tweet_id in self._nodes.client.zrange(layout.recent(author_id), 0, -1)]

    def agree(self, follower_id: str, followee_id: str, tweet_ids: Collection[str] | None) -> bool:
        """Let a timeline show a followee, with these tweets of theirs, or None: no longer. False if it is cold."""
        keys = [layout.home_timeline(follower_id), layout.following(follower_id)]
        ids = sorted(tweet_ids or (), key=int, reverse=True)
        with self._nodes.named(StoreAwayError):
            args = [followee_id, "0" if tweet_ids is None else "1", layout.CAP, *ids]
            return bool(self._nodes.call(AGREE, keys, args))

    def bury(self, tweet_id: str) -> None:
        """Put a tombstone in the place of the body."""
        with self._nodes.named(StoreAwayError):
            self._nodes.client.set(layout.body(tweet_id), "", ex=layout.TOMBSTONE_SECONDS)

    def _place(self, tweet_id: str, keys: Iterable[str]) -> int:
        with self._nodes.named(StoreAwayError):
            answers = self._nodes.gather(INSERT, (tweet_id, layout.CAP, layout.SLACK), [(key,) for key in keys])
        return sum(count for _, count in answers)


def connect(url: str) -> Nodes:
    """Build a client that gives up within seconds: whoever calls tries again."""
    return Nodes(url, connect_timeout=2, timeout=4)
