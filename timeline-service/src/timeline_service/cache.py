"""Timelines, recent tweets and bodies in Redis."""

import json
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from importlib.resources import files

from redis import Redis, RedisError
from redis.backoff import NoBackoff
from redis.retry import Retry

from timeline_service import layout
from timeline_service.timeline import BEGINNING, CacheAwayError, Timeline, Tweet


class RedisCache:
    """The Cache of a Redis that may forget anything at any time."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._begin = redis.register_script(_lua("begin.lua"))
        self._commit = redis.register_script(_lua("commit.lua"))

    def check(self) -> None:
        """Raise CacheAwayError unless Redis answers."""
        with _away():
            self._redis.ping()

    def load(self, user_id: str) -> Timeline | None:
        """Return the timeline; None if it is cold. A read renews its expiry, but never that of a rebuild's mark."""
        keys = layout.home_timeline(user_id), layout.following(user_id)
        with _away(), self._redis.pipeline(transaction=True) as pipeline:  # a new followee and their tweets, or neither
            pipeline.lrange(keys[0], 0, -1)
            pipeline.smembers(keys[1])
            ids, following = pipeline.execute()
            if not ids or not following or ids[-1].startswith("!"):
                return None
            for key in keys:
                pipeline.expire(key, layout.TIMELINE_SECONDS)
            pipeline.execute()
        return Timeline([tweet_id for tweet_id in ids if tweet_id != BEGINNING], ids[-1], frozenset(following))

    def begin(self, user_id: str) -> str | None:
        """Mark a rebuild and return its token; None if another rebuild is in progress or was faster."""
        token = uuid.uuid4().hex
        keys = [layout.home_timeline(user_id), layout.following(user_id)]
        with _away():
            return token if self._begin(keys, [token, layout.REBUILD_SECONDS]) else None

    def commit(self, user_id: str, token: str, timeline: Timeline) -> bool:
        """Put the timeline in its place, among what arrived meanwhile, if the mark is still there."""
        keys = [layout.home_timeline(user_id), layout.following(user_id)]
        ids = [*timeline.ids, *([BEGINNING] if timeline.floor == BEGINNING else [])]
        with _away():
            return bool(
                self._commit(keys, [token, str(layout.TIMELINE_SECONDS), str(len(ids)), *ids, *timeline.following])
            )

    def noted(self, user_id: str) -> list[str]:
        """Return the followees whose edge changed lately: an index may not know yet."""
        with _away():
            return [str(followee_id) for followee_id in self._redis.smembers(layout.noted(user_id))]

    def recent(self, author_ids: Iterable[str]) -> list[str]:
        """Return the latest ids of these authors, in no order: an index may not have them yet."""
        with _away(), self._redis.pipeline(transaction=False) as pipeline:
            for author_id in author_ids:
                pipeline.zrange(layout.recent(author_id), 0, -1)
            return [tweet_id for ids in pipeline.execute() for tweet_id in ids]

    def bodies(self, tweet_ids: list[str]) -> dict[str, Tweet | None]:
        """Return what is known of these tweets; None stands for a deleted one."""
        with _away(), self._redis.pipeline(transaction=False) as pipeline:
            for tweet_id in tweet_ids:
                pipeline.get(layout.body(tweet_id))
            found = zip(tweet_ids, pipeline.execute(), strict=True)
        return {tweet_id: Tweet(**json.loads(text)) if text else None for tweet_id, text in found if text is not None}

    def fill(self, tweets: Iterable[Tweet], gone: Iterable[str]) -> None:
        """Remember bodies that the database gave, and which tweets it has no longer."""
        with _away(), self._redis.pipeline(transaction=False) as pipeline:
            for tweet in tweets:
                text = json.dumps(asdict(tweet), ensure_ascii=False)
                pipeline.set(layout.body(tweet.tweet_id), text, nx=True, ex=layout.BODY_SECONDS)
            for tweet_id in gone:
                pipeline.set(layout.body(tweet_id), "", ex=layout.TOMBSTONE_SECONDS)
            pipeline.execute()


def connect(url: str) -> Redis:
    """Build a client that gives up soon: the database knows it all."""
    once_more = Retry(NoBackoff(), 1)  # a connection may have died while it lay idle
    return Redis.from_url(url, decode_responses=True, socket_connect_timeout=0.5, socket_timeout=1, retry=once_more)


def _lua(name: str) -> str:
    return files("timeline_service").joinpath(name).read_text("utf-8")


@contextmanager
def _away() -> Iterator[None]:
    try:
        yield
    except RedisError as error:
        raise CacheAwayError(f"Redis did not answer: {error}") from error
