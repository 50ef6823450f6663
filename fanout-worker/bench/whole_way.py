"""From a tweet's event to its followers' lists, the followers read from DynamoDB; beside a bare query of these rows."""

import itertools
import os
import statistics
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any

import boto3
from redis import Redis

from fanout_worker.deliveries import Deliveries
from fanout_worker.dynamo_celebrities import DynamoCelebrities
from fanout_worker.dynamo_follows import PAGE, DynamoFollows
from fanout_worker.dynamo_mutes import DynamoMutes
from fanout_worker.dynamo_tweets import DynamoTweets
from murmuration_runtime import dynamo
from murmuration_testkit.dynamodb_local import dynamodb_local
from murmuration_testkit.rows import put_all
from murmuration_timelines import layout
from murmuration_timelines.writer import TimelineWriter, connect

FOLLOWERS = tuple(map(int, os.environ.get("FOLLOWERS", "100,1000,10000,100000").split(",")))
ROUNDS = 7
SHORTEST_ROUND = 10_000  # deliveries
FIRST = 1_700_000_000_000_000_000
TARGET = 0.8
FILL = """
local ids = {}
for n = tonumber(ARGV[1]), 1, -1 do ids[#ids + 1] = ARGV[2] .. string.format('%06d', n) end
for _, key in ipairs(KEYS) do
  redis.call('RPUSH', key, unpack(ids))
  redis.call('SET', key:gsub('_timeline', '_shown', 1), '!')
end
"""


def whole_way() -> list[dict[str, Any]]:
    """Deliver new tweets to full lists, and read the same followers bare, in turns."""
    figures: list[dict[str, Any]] = []
    with (
        dynamodb_local(in_memory=True) as store,
        closing(connect(os.environ["REDIS_URL"])) as nodes,
        room(nodes.client),
    ):
        os.environ["AWS_ENDPOINT_URL_DYNAMODB"] = store.url
        bare = boto3.client("dynamodb")
        worker = dynamo.client(attempts=1)
        deliveries = Deliveries(
            TimelineWriter(nodes),
            DynamoFollows(worker, ""),
            DynamoMutes(worker, ""),
            DynamoTweets(worker, ""),
            DynamoCelebrities(worker, ""),
            10**9,
            20,
            may_be_celebrity=lambda _: False,
        )
        ids = (str(FIRST + n) for n in itertools.count(10**6))
        for count in FOLLOWERS:
            star = f"star-{uuid.uuid4().hex[:8]}"
            rows = ({"followee_id": {"S": star}, "follower_id": {"S": fan}} for fan in fans(star, count))
            put_all(bare, "followers", (row | {"followed_at": {"N": "1"}} for row in rows))
            fill(nodes.client, star, count)
            times = max(1, SHORTEST_ROUND // count)

            def ours(star: str = star) -> None:
                deliveries.fan_out(next(ids), star)

            def theirs(star: str = star) -> None:
                query(bare, star)

            rates = alternating(ours, theirs, count, times)
            figures.append(
                {
                    "name": f"fan-out: the whole way to {count:,} followers",
                    "ours": rates[0],
                    "reference": rates[1],
                    "unit": "a second",
                    "ratio": rates[0] / rates[1],
                    "target": TARGET,
                    "setup": f"lists full at {layout.CAP}; DynamoDB Local in memory; one tweet after the other; "
                    f"reference: bare boto3 Query of the followers in pages of {PAGE:,}; medians of {ROUNDS} turns",
                }
            )
            remove(nodes.client, star, count)
    flat = 1e6 / figures[-1]["ours"]
    for figure in figures:
        figure["setup"] += f"; {1e6 / figure['ours']:.1f} µs a delivery, {flat:.1f} with {FOLLOWERS[-1]:,} followers"
    return figures


def alternating(ours: Callable[[], None], theirs: Callable[[], None], count: int, times: int) -> list[float]:
    """Return the medians of both, in followers a second; both have run before they are timed."""
    took: tuple[list[float], list[float]] = ([], [])
    for number in range(ROUNDS + 1):
        for each, work in zip(took, (ours, theirs), strict=True):
            began = time.perf_counter()
            for _ in range(times):
                work()
            if number:
                each.append(time.perf_counter() - began)
    return [count * times / statistics.median(each) for each in took]


def query(bare: Any, star: str) -> None:
    """Read the followers as boto3's own paginator does, and throw them away."""
    pages = bare.get_paginator("query").paginate(
        TableName="followers",
        KeyConditionExpression="followee_id = :followee",
        ProjectionExpression="follower_id",
        ExpressionAttributeValues={":followee": {"S": star}},
        ConsistentRead=True,
        PaginationConfig={"PageSize": PAGE},
    )
    for _ in pages:
        pass


def fans(star: str, count: int) -> Iterator[str]:
    """Name them."""
    return (f"{star}-fan-{number}" for number in range(count))


def fill(redis: Redis, star: str, count: int) -> None:
    """Make everybody's timeline warm and full."""
    names = map(layout.home_timeline, fans(star, count))
    while some := list(itertools.islice(names, 100)):
        redis.eval(FILL, len(some), *some, layout.CAP, str(FIRST)[:-6])


def remove(redis: Redis, star: str, count: int) -> None:
    """Give the memory back."""
    names = map(layout.home_timeline, fans(star, count))
    while some := list(itertools.islice(names, 100)):
        redis.unlink(*(name.replace("_timeline", "_shown", 1) for name in some))
        assert redis.unlink(*some) == len(some), "lists were evicted: the figures are of a half-empty Redis"


@contextmanager
def room(redis: Any) -> Iterator[None]:
    """Let Redis hold all lists at once for as long as the context lasts."""
    usual = redis.config_get("maxmemory")["maxmemory"]
    redis.config_set("maxmemory", "2gb")
    try:
        yield
    finally:
        redis.config_set("maxmemory", usual)


STACK = "redis"
BENCHMARKS = [whole_way]
