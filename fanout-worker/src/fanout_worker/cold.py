"""Timelines made cold: the next read of each builds it anew from the tables.

Rule: whatever a lost event left wrong in Redis is gone after it, at the price of the rebuilds. Tombstones stay: each is
true for ever, and a reader may hold the body that it keeps out.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any

from redis import Redis, RedisError
from redis.cluster import RedisCluster

from fanout_worker import layout
from fanout_worker.deliveries import StoreAwayError

AT_ONCE = 1_000
TIMELINES = (layout.home_timeline, layout.following, layout.author_timeline, layout.author_following)
PREFIXES = {name("").split("{")[0]: name.__name__ for name in (*TIMELINES, layout.body)}
UNLESS_TOMBSTONE = "return redis.call('STRLEN', KEYS[1]) > 0 and redis.call('UNLINK', KEYS[1]) or 0"


class NoSuchNodeError(Exception):
    """No master of the cluster has this address."""


def one(redis: Redis | RedisCluster, user_id: str) -> dict[str, int]:
    """Make the timelines of one user cold; return what was there."""
    with _away():
        return {name.__name__: int(redis.unlink(name(user_id))) for name in TIMELINES}


def everybody(redis: Redis | RedisCluster, node: str | None = None) -> dict[str, int]:
    """Make all timelines cold, and forget all bodies, or those of one master HOST:PORT; return how many of each."""
    with _away():
        keys = redis.scan_iter(count=AT_ONCE, **_target(redis, node))
        done: Counter[str] = Counter(dict.fromkeys(PREFIXES.values(), 0))
        while some := list(islice(keys, AT_ONCE)):
            done.update(_unlinked(redis, some))
    return dict(done)


def _unlinked(redis: Redis | RedisCluster, keys: Iterable[str]) -> dict[str, int]:
    found = [(PREFIXES[prefix], key) for key in keys if (prefix := key.split("{")[0]) in PREFIXES]
    done: Counter[str] = Counter()
    with redis.pipeline(transaction=False) as pipeline:
        for kind, key in found:
            if kind == layout.body.__name__:
                pipeline.eval(UNLESS_TOMBSTONE, 1, key)
            else:
                pipeline.unlink(key)
        for (kind, _), count in zip(found, pipeline.execute(), strict=True):
            done[kind] += count
    return done


def _target(redis: Redis | RedisCluster, node: str | None) -> dict[str, Any]:
    if node is None:
        return {}
    nodes: list[Any] = redis.get_primaries() if isinstance(redis, RedisCluster) else []  # type: ignore[no-untyped-call]
    masters = {found.name: found for found in nodes}
    if node not in masters:
        known = f"its masters are {', '.join(sorted(masters))}" if masters else "it is a single node: use --all"
        raise NoSuchNodeError(f"{node} is no master of the Redis at REDIS_URL; {known}")
    return {"target_nodes": masters[node]}


@contextmanager
def _away() -> Iterator[None]:
    try:
        yield
    except RedisError as error:
        raise StoreAwayError(f"Redis did not answer: {error}") from error
