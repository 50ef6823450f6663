"""Lists of people: whether a page of a long one takes longer than of a short one, and who two follow in common."""

import os
import statistics
import time
import uuid
from collections.abc import Iterable
from typing import Any

from contracts.tables import FOLLOWERS, USERS
from murmuration_testkit.dynamodb_local import dynamodb_local
from murmuration_testkit.redis_nodes import redis_node
from murmuration_testkit.rows import put_all

from .follows import APP, PREFIX, edge, profile
from .workers import Connection, p99, served

FEW = 100
MANY = int(os.environ.get("FOLLOWERS", "100000"))
FOLLOWED = 5_000
PAGES = int(os.environ.get("PAGES", "400"))
MUTUALS = int(os.environ.get("MUTUALS", "200"))
FLAT = 1.3
MARK = uuid.uuid4().hex[:8]
STAR, SMALL, RIVAL, FAN = (f"{name}-{MARK}" for name in ("star", "small", "rival", "fan"))
NOBODY = "redis://127.0.0.1:9/0"


def lists() -> list[dict[str, Any]]:
    """Read pages of followers of two accounts in turn, and then the mutual followers of one who follows many."""
    crowd = [f"p{n}-{MARK}" for n in range(MANY)]
    with dynamodb_local(in_memory=True) as store:
        dynamodb = store.client()
        _without_stream(dynamodb)
        put_all(dynamodb, PREFIX + USERS.name, map(profile, crowd))
        counted = (profile(STAR, followers_count=MANY), profile(SMALL, followers_count=FEW))
        put_all(dynamodb, PREFIX + USERS.name, (*counted, profile(FAN, following_count=FOLLOWED)))
        began = time.perf_counter()
        _follow(dynamodb, ((each, STAR) for each in crowd))
        print(f"    {MANY} followers written in {time.perf_counter() - began:.0f} s", flush=True)
        _follow(dynamodb, ((each, SMALL) for each in crowd[:FEW]))
        followed = crowd[:: MANY // FOLLOWED][:FOLLOWED]
        _follow(dynamodb, ((FAN, each) for each in followed))
        service = {"REQUEST_SECONDS": "30", **store.environment}
        with served(APP, f"/v1/users/{STAR}", **service, GRAPH_REDIS_URL=NOBODY) as (port, _):
            page = "/v1/users/{}/followers?limit=50"
            took = _in_turn(port, PAGES, {name: page.format(name) for name in (SMALL, STAR)})
            mutual = _mutual(port, STAR, MUTUALS)
            _rival(dynamodb, crowd, {*followed})
            rare = _mutual(port, RIVAL, MUTUALS // 4)
        with redis_node() as redis, served(APP, f"/v1/users/{STAR}", **service, GRAPH_REDIS_URL=redis.url) as (port, _):
            kept, rare_kept = (_mutual(port, name, MUTUALS) for name in (STAR, RIVAL))
    small, star = (statistics.median(took[name]) for name in (SMALL, STAR))
    setup = f"medians of {PAGES} pages of 50 of each in turn, the first pages, one connection; DynamoDB Local in memory"
    pair = f"{FOLLOWED:,} followed x {MANY:,} followers, pages of 20, p99"
    return [
        {"name": f"a page of {FEW} followers", "ours": small, "unit": "ms", "setup": setup},
        {
            "name": f"a page of {MANY:,} followers, times that of {FEW}",
            "ours": star / small,
            "unit": "times",
            "at_most": FLAT,
            "setup": f"{star:.1f} ms against {small:.1f} ms: {setup}",
        },
        *(
            {"name": f"mutual followers{which}, p99", "ours": p99(times), "unit": "ms", "setup": f"{pair}; {how}"}
            for which, times, how in (
                (", live", mutual, "all are mutual"),
                (", kept", kept, "all are mutual"),
                (" of whom there are none, live", rare, "every candidate is read"),
                (" of whom there are none, kept", rare_kept, "every candidate was read once"),
            )
        ),
    ]


def _mutual(port: int, other: str, times: int) -> list[float]:
    """Ask so often for the mutual followers with somebody, after a first time that leaves what is kept."""
    path = f"/v1/users/{FAN}/mutual-followers/{other}?limit=20"
    _in_turn(port, 1, {FAN: path})
    return _in_turn(port, times, {FAN: path})[FAN]


def _rival(dynamodb: Any, crowd: list[str], followed: set[str]) -> None:
    """Write somebody whom nobody of the followed follows: no page looks at more."""
    put_all(dynamodb, PREFIX + USERS.name, [profile(RIVAL, followers_count=MANY)])
    _follow(dynamodb, ((each, RIVAL) for each in crowd if each not in followed))


def _in_turn(port: int, times: int, paths: dict[str, str]) -> dict[str, list[float]]:
    """Ask for each in turn; return how many ms the answers took, in order of length."""
    connection = Connection(port)

    def one(path: str) -> float:
        began = time.perf_counter()
        connection.insist("GET", path, FAN)
        return (time.perf_counter() - began) * 1000

    took: dict[str, list[float]] = {name: [] for name in paths}
    for _ in range(times):
        for name, path in paths.items():
            took[name].append(one(path))
    return {name: sorted(each) for name, each in took.items()}


def _follow(dynamodb: Any, pairs: Iterable[tuple[str, str]]) -> None:
    """Write these follows, one each millisecond."""
    put_all(dynamodb, PREFIX + FOLLOWERS.name, (edge(pair, 1_700_000_000_000 + n) for n, pair in enumerate(pairs)))


def _without_stream(dynamodb: Any) -> None:
    """Switch the stream of follows off: with it DynamoDB Local writes many rows of one key ten times slower."""
    dynamodb.update_table(TableName=PREFIX + FOLLOWERS.name, StreamSpecification={"StreamEnabled": False})


STACK = "gateway,limits-redis"
BENCHMARKS = [lists]
