"""Timelines made cold, for an operator: the next read of each builds it anew from the tables.

Rule: whatever a lost event left wrong in Redis is gone after it, at the price of the rebuilds. Tombstones stay: each is
true for ever, and a reader may hold the body that it keeps out.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any

from redis import RedisCluster

from murmuration_runtime.redis_nodes import Nodes
from murmuration_timelines import layout
from murmuration_timelines.scripts import RESET

AT_ONCE = 1_000
OF_A_USER = (
    layout.home_timeline,
    layout.home_shown,
    layout.author_timeline,
    layout.author_shown,
    layout.followees,
    layout.author_followees,
    layout.read_ahead,
)
KINDS = {name("").split("{")[0]: name.__name__ for name in (*OF_A_USER, layout.body)}


class NoSuchNodeError(Exception):
    """No master of the cluster has this address."""


def of_user(nodes: Nodes, user_id: str) -> dict[str, int]:
    """Make the timelines of one user cold; return how many keys of each kind there were."""
    with nodes.errors_named():
        return _reset(nodes, [name(user_id) for name in OF_A_USER])


def of_everybody(
    nodes: Nodes, master: str | None = None, heartbeat: Callable[[], object] = lambda: None
) -> dict[str, int]:
    """Make all timelines cold and forget all bodies, or those of one master HOST:PORT; return how many of each kind.

    heartbeat: called again and again meanwhile.
    """
    done = Counter(dict.fromkeys(KINDS.values(), 0))
    with nodes.errors_named():
        keys = nodes.client.scan_iter(count=AT_ONCE, **_target(nodes.client, master))
        while some := list(islice(keys, AT_ONCE)):
            done.update(_reset(nodes, some))
            heartbeat()
    return dict(done)


def _reset(nodes: Nodes, keys: Iterable[str]) -> dict[str, int]:
    done: Counter[str] = Counter()
    for items, counts in nodes.gather(RESET, (), [(key,) for key in keys if _kind(key) in KINDS]):
        for (key,), count in zip(items, counts, strict=True):
            done[KINDS[_kind(key)]] += count
    return dict(done)


def _kind(key: str) -> str:
    return key.split("{", maxsplit=1)[0]


def _target(redis: Any, master: str | None) -> dict[str, Any]:
    if master is None:
        return {}
    nodes: Any = redis.get_primaries() if isinstance(redis, RedisCluster) else ()  # type: ignore[no-untyped-call]
    masters = {node.name: node for node in nodes}
    if master not in masters:
        known = f"its masters are {', '.join(sorted(masters))}" if masters else "it is a single node: use --all"
        raise NoSuchNodeError(f"{master} is no master of the Redis at REDIS_URL; {known}")
    return {"target_nodes": masters[master]}
