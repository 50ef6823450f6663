"""The timelines in Redis: each write is safe to repeat, and in any order."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from importlib.resources import files

from redis import Redis, RedisError
from redis.backoff import NoBackoff
from redis.retry import Retry

from fanout_worker import layout
from fanout_worker.deliveries import StoreAwayError


class Timelines:
    """Home timelines, authors' recent tweets, and tombstones."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._insert = redis.register_script(_lua("insert.lua"))
        self._agree = redis.register_script(_lua("agree.lua"))

    def check(self) -> None:
        """Raise StoreAwayError unless Redis answers."""
        with _away():
            self._redis.ping()

    def remember(self, author_id: str, tweet_id: str) -> None:
        """Keep the tweet among its author's recent ones, and in the author's own timeline where that is warm."""
        key = layout.recent(author_id)
        with _away(), self._redis.pipeline(transaction=False) as pipeline:
            pipeline.zadd(key, {tweet_id: 0})  # one score: the order is that of the ids
            pipeline.zremrangebyrank(key, 0, -layout.RECENT - 1)
            pipeline.expire(key, layout.RECENT_SECONDS)
            pipeline.execute()
            self._insert(args=[tweet_id, layout.CAP, layout.SLACK, layout.author_timeline(author_id)])

    def insert(self, tweet_id: str, user_ids: Sequence[str]) -> int:
        """Insert the tweet into these users' timelines, where they are warm; return into how many."""
        with _away():
            keys = [layout.home_timeline(user_id) for user_id in user_ids]
            return int(self._insert(args=[tweet_id, layout.CAP, layout.SLACK, *keys]))

    def note(self, follower_id: str, followee_id: str) -> bool:
        """Note that this edge changed; return whether there is a timeline, or a rebuild of one, that it concerns."""
        key = layout.noted(follower_id)
        with _away(), self._redis.pipeline(transaction=False) as pipeline:
            pipeline.sadd(key, followee_id)
            pipeline.expire(key, layout.NOTE_SECONDS)
            pipeline.exists(layout.home_timeline(follower_id))
            return bool(pipeline.execute()[-1])

    def recent(self, author_id: str) -> list[str]:
        """Return the author's latest ids: the index may not have them yet."""
        with _away():
            return [str(tweet_id) for tweet_id in self._redis.zrange(layout.recent(author_id), 0, -1)]

    def agree(self, follower_id: str, followee_id: str, tweet_ids: Collection[str] | None) -> bool:
        """Let a timeline show a followee, with these tweets of theirs, or None: no longer. False if it is cold."""
        keys = [layout.home_timeline(follower_id), layout.following(follower_id)]
        ids = sorted(tweet_ids or (), key=int, reverse=True)
        with _away():
            return bool(self._agree(keys, [followee_id, "0" if tweet_ids is None else "1", str(layout.CAP), *ids]))

    def bury(self, tweet_id: str) -> None:
        """Put a tombstone in the place of the body."""
        with _away():
            self._redis.set(layout.body(tweet_id), "", ex=layout.TOMBSTONE_SECONDS)


def connect(url: str) -> Redis:
    """Build a client that gives up within seconds: whoever calls tries again."""
    once_more = Retry(NoBackoff(), 1)  # a connection may have died while it lay idle
    return Redis.from_url(url, decode_responses=True, socket_connect_timeout=2, socket_timeout=4, retry=once_more)


def _lua(name: str) -> str:
    return files("fanout_worker").joinpath(name).read_text("utf-8")


@contextmanager
def _away() -> Iterator[None]:
    try:
        yield
    except RedisError as error:
        raise StoreAwayError(f"Redis did not answer: {error}") from error
