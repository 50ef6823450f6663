"""How fast events become counts, beside what DynamoDB can do bare; and that neither memory nor old shards cost more."""

import itertools
import os
import statistics
import time
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import boto3

from contracts import FollowChanged, Source
from count_aggregator.counting import Counting
from count_aggregator.ledger import ACTIONS, Ledger
from murmuration_testkit.ports import free_port
from murmuration_testkit.probes import metric
from murmuration_testkit.processes import control
from murmuration_testkit.topics import skip
from murmuration_testkit.worker import Worker
from murmuration_worker.messages import Arrival

from .backlog import TOPIC, Pair, drained, fill, ordinary, togglers, viral

EVENTS = int(os.environ.get("EVENTS", "12000"))
MANY = int(os.environ.get("MANY_EVENTS", "1000000"))
SECONDS = 6
THREADS = (1, 4)  # the reference is whichever is faster
PORT = int(os.environ["COUNT_AGGREGATOR_ADMIN_PORT"])
WITHIN = 900.0
ADD = "ADD followers_count :n, following_count :n, counts_version :n"
ONE = {":n": {"N": "1"}}


def throughput() -> list[dict[str, Any]]:
    """One worker on a filled topic against bare loops of boto3, on both mixes; then two workers."""
    figures = []
    rates: dict[str, dict[str, float]] = {}
    for name, mix in (("ordinary", ordinary), ("viral", viral)):
        mark = f"bench-{uuid.uuid4().hex[:8]}"
        rates[name] = _one(mix(mark))
        bare = _fastest(lambda pair: lambda numbers: _transaction(pair, numbers), mix(f"{mark}-t"))
        updates = _fastest(lambda pair: lambda numbers: _updates(pair, numbers), mix(f"{mark}-u"))
        setup = f"{EVENTS} events in Kafka, one worker, DynamoDB Local on disk; measured from 10 % to 90 %"
        figures += [
            {
                "name": f"counts: {name} mix, actions in transactions",
                "ours": rates[name]["actions"],
                "reference": bare,
                "unit": "actions/s",
                "ratio": rates[name]["actions"] / bare,
                "target": 0.8,
                "setup": f"{setup}; reference: bare TransactWriteItems of {ACTIONS} such ADDs, {SECONDS} s",
            },
            {
                "name": f"counts: {name} mix, events",
                "ours": rates[name]["events"],
                "reference": updates / 2,
                "unit": "events/s",
                "ratio": rates[name]["events"] / (updates / 2),
                "target": 5 if name == "viral" else None,
                "setup": f"{setup}; reference: bare UpdateItem, two an event, {SECONDS} s",
            },
        ]
    two = _two(ordinary(f"bench-{uuid.uuid4().hex[:8]}"))
    figures.append(
        {
            "name": "counts: two workers against one, ordinary mix",
            "ours": two["events"],
            "reference": rates["ordinary"]["events"],
            "unit": "events/s",
            "ratio": two["events"] / rates["ordinary"]["events"],
            "target": None,
            "setup": f"{EVENTS} events; bounded by one DynamoDB Local on the same {os.cpu_count()} cores",
        }
    )
    return figures


def memory() -> dict[str, Any]:
    """Resident memory of one worker over very many events of a few hundred people."""
    seen: list[tuple[float, float]] = []
    _refill(togglers(f"bench-{uuid.uuid4().hex[:8]}"), MANY)
    control("start", "count-aggregator")
    drained([PORT], MANY, WITHIN, lambda n: seen.append((n, metric(PORT, "process_resident_memory_bytes"))))
    early = max(size for events, size in seen if events <= MANY * 0.2)
    late = max(size for events, size in seen if events >= MANY * 0.8)
    return {
        "name": f"counts: memory late in {MANY:,} events against early",
        "ours": late / 1e6,
        "reference": early / 1e6,
        "unit": "MB",
        "ratio": late / early,
        "target": None,
        "setup": "largest resident size after 80 % of the events (ours) and before 20 % (reference), polled",
    }


def generations() -> list[dict[str, Any]]:
    """Median time of a full batch when so many shards have come and gone in its partition."""
    figures = []
    first = 0.0
    for count in (1, 100, 1_000):
        took = _batches_after(count)
        first = first or took
        figures.append(
            {
                "name": f"counts: a batch of 98 users after {count:,} shard generations",
                "ours": took * 1000,
                "reference": first * 1000,
                "unit": "ms",
                "ratio": took / first,
                "target": None,
                "at_most": 2 * first * 1000 if count > 1 else None,
                "setup": "median of 40 batches, each by somebody who remembers nothing; reference: after one",
            }
        )
    return figures


def _batches_after(count: int) -> float:
    ledger = Ledger(boto3.client("dynamodb"), os.environ.get("TABLE_PREFIX", ""), 60)
    mark = f"bench-{uuid.uuid4().hex[:8]}"
    offsets = itertools.count()

    def batch(shard: str, users: int) -> list[Arrival[FollowChanged]]:
        return [
            Arrival(
                next(offsets),
                FollowChanged("e", Source(shard, n), f"{mark}-{n}", f"{mark}-b{n}", following=True, occurred_at=None),
            )
            for n in range(users)
        ]

    counting = Counting(ledger)
    for generation in range(count):
        counting.count(mark, "bench", batch(f"{mark}-{generation}", 1))
    times = []
    for number in range(40):
        arrivals = batch(f"{mark}-new-{number}", 49)
        began = time.perf_counter()
        Counting(ledger).count(mark, "bench", arrivals)
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def _one(pair: Pair) -> dict[str, float]:
    _refill(pair, EVENTS)
    control("start", "count-aggregator")
    try:
        return drained([PORT], EVENTS, WITHIN)
    finally:
        control("stop", "count-aggregator")


def _two(pair: Pair) -> dict[str, float]:
    _refill(pair, EVENTS)
    second = Worker("count_aggregator", free_port(), "count-aggregator-2")
    second.start()
    control("start", "count-aggregator")
    try:
        return drained([PORT, second.port], EVENTS, WITHIN)
    finally:
        second.end()
        control("stop", "count-aggregator")


def _refill(pair: Pair, count: int) -> None:
    """Have events in the topic that nobody has read, and no worker."""
    control("stop", "count-aggregator")
    skip("count-aggregator", TOPIC.name)
    fill(pair, count)


def _fastest(work: Callable[[Pair], Callable[["itertools.count[int]"], int]], pair: Pair) -> float:
    """Return the actions a second of a bare loop, with as many threads as is best."""
    return max(_rate(work(pair), threads) for threads in THREADS)


def _rate(work: Callable[["itertools.count[int]"], int], threads: int) -> float:
    numbers = itertools.count()
    began = time.monotonic()

    def loop() -> int:
        done = 0
        while time.monotonic() - began < SECONDS:
            done += work(numbers)
        return done

    with ThreadPoolExecutor(threads) as pool:
        done = sum(job.result() for job in [pool.submit(loop) for _ in range(threads)])
    return done / (time.monotonic() - began)


_dynamodb = boto3.client("dynamodb")


def _transaction(pair: Pair, numbers: "itertools.count[int]") -> int:
    users: set[str] = set()
    while len(users) < ACTIONS:
        users |= set(pair(next(numbers)))
    updates: list[Any] = [
        {
            "Update": {
                "TableName": "users",
                "Key": {"user_id": {"S": user}},
                "UpdateExpression": ADD,
                "ExpressionAttributeValues": ONE,
            }
        }
        for user in sorted(users)[:ACTIONS]
    ]
    _dynamodb.transact_write_items(TransactItems=updates)
    return len(updates)


def _updates(pair: Pair, numbers: "itertools.count[int]") -> int:
    for user in pair(next(numbers)):
        _dynamodb.update_item(
            TableName="users",
            Key={"user_id": {"S": user}},
            UpdateExpression=ADD,
            ExpressionAttributeValues=ONE,
        )
    return 2


STACK = "kafka,dynamodb,redis,registry,count-aggregator"
TIME_LIMIT_S = 3_600
BENCHMARKS = [throughput, generations, memory]
