"""What users cost in Redis's memory: lists as the worker leaves them beside plain ones, and all that goes with them."""

import itertools
import json
import os
import statistics
import uuid
from typing import Any

from murmuration_testkit.redis_nodes import redis_node
from murmuration_timelines import layout
from murmuration_timelines.shown import Shown
from murmuration_timelines.writer import TimelineWriter, connect

from .field import fresh

USERS = int(os.environ.get("USERS", "10000"))
FOLLOWEES = 200
PHASES = 64  # a list is cut each time it is so much over its cap: every length in between is there
FILL = 2 * layout.CAP
PREFIX = f"!{layout.VERSION}:{'0' * 16}"
HEAD = f"{PREFIX};1700000000000000;1700000000;1700086400 ".encode()


def memory() -> list[dict[str, Any]]:
    """Measure one Redis with so many users, and each kind of key."""
    with redis_node("--maxmemory", "4gb") as node:
        nodes = connect(node.url)
        redis, timelines = node.redis, TimelineWriter(nodes)
        seeds = [f"seed-{n}" for n in range(PHASES)]
        for seed in seeds:
            redis.rpush(layout.home_timeline(seed), "0")
            redis.set(layout.home_shown(seed), "!")
        for n in range(FILL + PHASES):
            timelines.insert(fresh(), seeds[max(0, n - FILL) :])
        for _ in range(layout.RECENT):
            timelines.add_recent("author", fresh())
        redis.rpush("plain", *(fresh() for _ in range(layout.CAP)))
        tweet_id = fresh()
        tweet = {"tweet_id": tweet_id, "author_id": _user(), "text": "x" * 80, "created_at": 1_700_000_000_000}
        redis.set(layout.body(tweet_id), f"{PREFIX}{json.dumps(tweet)}")
        timelines.set_tombstone(gone := fresh())
        cost = {name: redis.memory_usage(key, samples=0) for name, key in _kinds(tweet_id, gone).items()}
        lists = statistics.mean(redis.memory_usage(layout.home_timeline(seed), samples=0) for seed in seeds)
        before = redis.info("memory")["used_memory"]
        _populate(node.redis, seeds)
        user = (redis.info("memory")["used_memory"] - before) / USERS
        shown = statistics.mean(redis.memory_usage(layout.home_shown(f"user-{n}"), samples=0) for n in range(100))
        nodes.close()
    figures = [
        {
            **_figure("memory: a home timeline, between 800 and 864 ids", lists, "bytes"),
            "reference": cost["plain"],
            "ratio": lists / cost["plain"],
            "at_most": 1.3 * cost["plain"],
            "setup": f"mean of {PHASES} lists, each cut at another moment; reference: RPUSH of {layout.CAP} ids",
        },
        _figure(f"memory: whom a timeline shows, {FOLLOWEES} people", shown, "bytes"),
        _figure("memory: a million users, timeline and whom it shows", user * 1e6 / 1e9, "GB"),
    ]
    return figures + [_figure(f"memory: {name}", cost[name], "bytes") for name in cost if name != "plain"]


def _kinds(tweet_id: str, gone: str) -> dict[str, str]:
    return {
        "plain": "plain",
        f"an author's {layout.RECENT} recent tweets": layout.recent("author"),
        "the body of a tweet of 80 characters": layout.body(tweet_id),
        "a tombstone": layout.body(gone),
    }


def _populate(redis: Any, seeds: list[str]) -> None:
    """Give each user a timeline like one of the seeds', and people to follow."""
    lists = itertools.cycle(
        [redis.execute_command("DUMP", layout.home_timeline(seed), NEVER_DECODE=[]) for seed in seeds]
    )
    followees = range(FOLLOWEES)
    with redis.pipeline(transaction=False) as pipeline:
        for n in range(USERS):
            pipeline.restore(layout.home_timeline(f"user-{n}"), 7 * 86_400_000, next(lists))
            shown = (
                f"{PREFIX};1700000000000000;1700000000;1700086400 ".encode() + Shown.of(map(_user, followees)).digests
            )
            pipeline.set(layout.home_shown(f"user-{n}"), shown, ex=7 * 86_400)
            if n % 100 == 0:
                pipeline.execute()
        pipeline.execute()


def _user(_: object = None) -> str:
    return f"u-{uuid.uuid4().hex}"


def _figure(name: str, value: float, unit: str) -> dict[str, Any]:
    setup = (
        f"{USERS:,} users who follow {FOLLOWEES} each; ids of 34 characters; Redis as deploy/local/redis.conf has it"
    )
    return {"name": name, "ours": value, "reference": None, "unit": unit, "ratio": None, "target": None, "setup": setup}


STACK = ""
BENCHMARKS = [memory]
