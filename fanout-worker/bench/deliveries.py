"""Deliveries a second into full lists, beside what redis-py and Lua do bare, on one Redis and on a cluster."""

import os
import statistics
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from murmuration_testkit.redis_nodes import redis_cluster, redis_node

from .field import Field, Way, by_crowd, crowds, fresh, rate, rates

POPULATION = int(os.environ.get("POPULATION", "200000"))
CLUSTER_POPULATION = int(os.environ.get("CLUSTER_POPULATION", "40000"))
FOLLOWERS = int(os.environ.get("CROWD", "10000"))
DELIVERIES = int(os.environ.get("DELIVERIES", "100000"))
RUNS = int(os.environ.get("RUNS", "5"))
LANES = int(os.environ.get("LANES", "2"))  # tweets at a time, in every way; 1, 2 or 4; a worker has up to eight
ROOM = ("--maxmemory", "4gb")
CROWDS = (100, 1_000, 10_000, 100_000)
REPLAYED = 16
SETUP = (
    f"lists full at 800; tweets to {FOLLOWERS:,} followers each, of {{}}, in pages of 1,000; {LANES} tweets at a time; "
    f"median of {RUNS} runs in turn"
)


def one_node() -> list[dict[str, Any]]:
    """One Redis: against pipelined commands and a bare script; by number of followers; and for replays."""
    with _field(redis_node(*ROOM), POPULATION) as field:
        ways: dict[str, Way] = {"ours": field.ours, "pipelined": field.pipelined, "bare": field.bare}
        found = rates(field, ways, FOLLOWERS, DELIVERIES, RUNS, LANES)
        return [
            *_against(found, "one Redis", SETUP.format(f"{POPULATION:,} users")),
            *_crowds(field),
            *_replays(field),
        ]


def cluster() -> list[dict[str, Any]]:
    """Three masters: the same, and against a script call a key."""
    with _field(redis_cluster(), CLUSTER_POPULATION) as field:
        ways: dict[str, Way] = {
            "ours": field.ours,
            "pipelined": field.pipelined,
            "bare": field.bare,
            "one_by_one": field.one_by_one,
        }
        found = rates(field, ways, FOLLOWERS, DELIVERIES, RUNS, LANES)
        return _against(found, "three masters", SETUP.format(f"{CLUSTER_POPULATION:,} users"))


def _against(found: dict[str, float], where: str, setup: str) -> list[dict[str, Any]]:
    references = {
        "pipelined": ("redis-py's pipelined LPUSH + LTRIM", 5),
        "bare": ("a bare script of LPUSHX + RPOP", 0.8),
        "one_by_one": ("the same script, one call a key", None),
    }
    return [
        {
            "name": f"deliveries on {where} against {references[name][0]}",
            "ours": found["ours"],
            "reference": reference,
            "unit": "/s",
            "ratio": found["ours"] / reference,
            "target": references[name][1],
            "setup": setup,
        }
        for name, reference in found.items()
        if name != "ours"
    ]


def _crowds(field: Field) -> Iterator[dict[str, Any]]:
    """Say what a delivery costs, by the number of followers."""
    costs = {size: 1e6 / found for size, found in by_crowd(field, CROWDS, DELIVERIES, RUNS, LANES).items()}
    for size, cost in costs.items():
        yield {
            "name": f"a delivery when the author has {size:,} followers",
            "ours": cost,
            "reference": costs[1_000],
            "unit": "us",
            "ratio": cost / costs[1_000],
            "target": None,
            "at_most": 1.3 * costs[1_000],
            "setup": f"{LANES} tweets at a time, all deliveries over the time they took; median of {RUNS} runs of "
            f"{DELIVERIES:,} deliveries or more, in turn; reference: 1,000 followers",
        }


def _replays(field: Field) -> Iterator[dict[str, Any]]:
    """Insert some tweets, insert them again, and insert some that are older than any list."""
    found: dict[str, list[float]] = {"fresh": [], "the last ones over again": [], "long gone": []}
    for run in range(RUNS):
        to = crowds(field, field.ours, FOLLOWERS, REPLAYED)
        tweet_ids = [fresh() for _ in to]
        old = [f"16{run:017d}" for _ in to]
        for times, events in zip(found.values(), (tweet_ids, tweet_ids, old), strict=True):
            times.append(rate(FOLLOWERS, [to], events))
    medians = {name: statistics.median(times) for name, times in found.items()}
    for name in ("the last ones over again", "long gone"):
        yield {
            "name": f"deliveries of replayed events: {name}",
            "ours": medians[name],
            "reference": medians["fresh"],
            "unit": "/s",
            "ratio": medians[name] / medians["fresh"],
            "target": 1.0,
            "setup": f"{REPLAYED} tweets to {FOLLOWERS:,} followers each; median of {RUNS} runs; reference: fresh ones",
        }


@contextmanager
def _field(redis: Any, users: int) -> Iterator[Field]:
    with redis as found:
        field = Field(found.url, users)
        yield field
        field.nodes.close()


STACK = ""
BENCHMARKS = [one_node, cluster]
