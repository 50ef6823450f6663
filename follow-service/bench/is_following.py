"""What gRPC adds to the reads of IsFollowing: a hundred users a call, all of them followed: the most reads."""

import os
import statistics
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import grpc

from contracts.tables import BLOCKS, FOLLOWERS, USERS
from follow_service import graph_pb2
from follow_service.dynamo_facts import block_key, edge_key, user_key
from follow_service.grpc_server import SERVICE
from murmuration_runtime.dynamo import client, items_of_tables
from murmuration_testkit.dynamodb_local import dynamodb_local
from murmuration_testkit.ports import free_ports
from murmuration_testkit.probes import get
from murmuration_testkit.rows import put_all
from murmuration_testkit.tokens import DAY_S, of_stack
from murmuration_testkit.waiting import eventually

SECONDS = float(os.environ.get("SECONDS_EACH", "5"))
ROUNDS = 3
AT_ONCE = 4
USERS_EACH = 100
PREFIX = os.environ.get("TABLE_PREFIX", "")
STACK = "gateway,limits-redis"


def batches() -> list[dict[str, Any]]:
    """Ask in turn by gRPC, and the bare keys, as many at once."""
    me = f"b-{uuid.uuid4().hex[:12]}"
    them = [f"{me}-{number}" for number in range(USERS_EACH)]
    took: dict[str, list[float]] = {"bare": [], "grpc": []}
    rates: dict[str, list[float]] = {"bare": [], "grpc": []}
    with dynamodb_local(in_memory=True) as store:
        put_all(store.client(), PREFIX + USERS.name, map(_profile, them))
        put_all(
            store.client(), PREFIX + FOLLOWERS.name, ({**edge_key(me, it), "followed_at": {"N": "1"}} for it in them)
        )
        os.environ.update(store.environment)
        dynamodb = client()
        with _served() as port:
            for _ in range(ROUNDS):
                for name, make in (
                    ("bare", lambda: lambda: _bare(dynamodb, me, them)),
                    ("grpc", lambda: _asker(port, me, them)),
                ):
                    seconds = _measured(make)
                    rates[name].append(len(seconds) / SECONDS)
                    took[name] += seconds
    bare, ours = (statistics.median(each) for each in rates.values())
    setup = (
        f"median of {ROUNDS} rounds of {SECONDS:g} s, {AT_ONCE} at once, one process, its client on the same machine, "
        f"DynamoDB Local in memory; {USERS_EACH} users, all followed: 4 calls of the store; "
        "reference: BatchGetItem of the same 400 keys, without gRPC"
    )
    return [
        {
            "name": "gRPC IsFollowing of 100",
            "ours": ours,
            "reference": bare,
            "ratio": ours / bare,
            "unit": "calls/s",
            "setup": setup,
        },
        {
            "name": "gRPC IsFollowing of 100, p99",
            "ours": _p99(took["grpc"]),
            "reference": _p99(took["bare"]),
            "ratio": _p99(took["grpc"]) / _p99(took["bare"]),
            "unit": "ms",
            "setup": setup,
        },
    ]


@contextmanager
def _served() -> Iterator[int]:
    port, admin_port = free_ports(2)
    ports = {"PORT": str(port), "ADMIN_PORT": str(admin_port), "HOST": "127.0.0.1", "LOG_LEVEL": "WARNING"}
    command = [sys.executable, "-m", "follow_service", "grpc"]
    with subprocess.Popen(command, env={**os.environ, **ports}) as process:  # noqa: S603 - our own
        try:
            eventually(lambda: get(f"http://127.0.0.1:{admin_port}/readyz")[0], 200, within=60)
            yield port
        finally:
            process.terminate()


def _asker(port: int, me: str, them: Sequence[str]) -> Callable[[], None]:
    """Return what asks once, on a connection of its own."""
    request, answer = graph_pb2.IsFollowingRequest, graph_pb2.IsFollowingResponse
    options = [("grpc.use_local_subchannel_pool", 1)]
    call = grpc.insecure_channel(f"127.0.0.1:{port}", options).unary_unary(
        f"/{SERVICE}/IsFollowing", request.SerializeToString, answer.FromString
    )
    sent = (("authorization", of_stack().bearer(me, lifetime_s=DAY_S)["Authorization"]),)

    def ask() -> None:
        found: graph_pb2.IsFollowingResponse = call(request(user_ids=them), metadata=sent, timeout=10)
        assert all(each.following for each in found.answers)

    return ask


def _bare(dynamodb: Any, me: str, them: Sequence[str]) -> None:
    """Read the same keys."""
    pairs = [pair for each in them for pair in ((me, each), (each, me))]
    asked = [(FOLLOWERS, edge_key(me, each)) for each in them]
    assert len([*_items(dynamodb, asked)]) == USERS_EACH
    rest: list[Any] = [(USERS, user_key(each)) for each in them] + [(BLOCKS, block_key(*pair)) for pair in pairs]
    assert len([*_items(dynamodb, rest)]) == USERS_EACH


def _items(dynamodb: Any, asked: Sequence[tuple[Any, Any]]) -> Iterator[Any]:
    return items_of_tables(dynamodb, [(PREFIX + table.name, key) for table, key in asked], {})


def _measured(make: Callable[[], Callable[[], None]]) -> list[float]:
    """Return how long each call took of those that some threads make for a while."""
    until = time.perf_counter() + SECONDS

    def work(_: int) -> list[float]:
        call, took = make(), []
        while (began := time.perf_counter()) < until:
            call()
            took.append(time.perf_counter() - began)
        return took

    with ThreadPoolExecutor(AT_ONCE) as pool:
        return [each for some in pool.map(work, range(AT_ONCE)) for each in some]


def _p99(seconds: Sequence[float]) -> float:
    return statistics.quantiles(seconds, n=100)[98] * 1000


def _profile(person: str) -> dict[str, Any]:
    name = {**user_key(person), USERS.display_name: {"S": person}}
    return {**name, USERS.is_private: {"BOOL": False}, USERS.created_at: {"N": "1"}}


BENCHMARKS = [batches]
