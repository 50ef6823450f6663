"""What a page of a home timeline costs whose cache is cold: one, and all at once."""

import os
import random
import time
from contextlib import nullcontext
from functools import cache
from http import HTTPStatus
from typing import Any

from redis import Redis

from murmuration_timelines import layout

from .readers import MARK, Answers, Connection, asked, follow, median, say, served, write

FOLLOWEES = int(os.environ.get("FOLLOWEES", "500"))
SECONDS = float(os.environ.get("SECONDS_EACH", "3"))
ROUNDS = 5
CONNECTIONS = 4
COLD_READS = 30
READERS = int(os.environ.get("READERS", "200"))
THEIR_FOLLOWEES = 50
MANY_CONNECTIONS = 16
BACK_WITHIN = 30.0
PAGE = "/v1/timeline?limit=20"
READER = f"{MARK}-r"


@cache
def crowd() -> None:
    """Let one follow five hundred authors, so that the list will be full, and many people some of these."""
    authors = [f"{MARK}-a{n}" for n in range(FOLLOWEES)]
    write("tweets", say(authors, 2))
    write("followers", follow(READER, authors))
    write(
        "followers",
        (edge for n in range(READERS) for edge in follow(small(n), random.sample(authors, THEIR_FOLLOWEES))),
    )


def small(n: int) -> str:
    """Name one of the many who follow few."""
    return f"{MARK}-s{n}"


def settle(port: int) -> None:
    """Wait until a process trusts a Redis that is new to it: what it builds until then is built again soon."""
    with Connection(port) as connection:
        connection.get(PAGE, small(0))
    time.sleep(layout.SETTLING_SECONDS)


def cold() -> list[dict[str, Any]]:
    """One reader whose timeline is evicted before every read."""
    crowd()
    took = []
    with served() as ours, Connection(ours.port) as connection, Redis.from_url(os.environ["REDIS_URL"]) as redis:
        connection.get(PAGE, READER)
        for _ in range(COLD_READS):
            redis.delete(layout.home_timeline(READER), layout.home_shown(READER))
            began = time.perf_counter()
            assert connection.get(PAGE, READER)[0] == HTTPStatus.OK
            took.append((time.perf_counter() - began) * 1000)
    took.sort()
    return [
        {
            "name": f"timeline: cold rebuild with {FOLLOWEES} followed, {name}",
            "ours": value,
            "reference": None,
            "unit": "ms",
            "ratio": None,
            "setup": f"{COLD_READS} reads one after another, list and following deleted before each; DynamoDB Local",
        }
        for name, value in (("p50", median(took)), ("p99", took[-1]))
    ]


def comes_back() -> list[dict[str, Any]]:
    """Everybody reads again and again while Redis loses everything."""
    crowd()

    def read(port: int, seconds: float) -> Answers:
        return asked(port, MANY_CONNECTIONS, seconds, lambda: (PAGE, small(random.randrange(READERS))))

    with served() as (port, _), Redis.from_url(os.environ["REDIS_URL"]) as redis:
        settle(port)
        with Connection(port) as connection:
            for n in range(READERS):
                connection.get(PAGE, small(n))
        before = read(port, SECONDS)
        redis.flushall()
        lost = time.perf_counter()
        after = read(port, BACK_WITHIN + layout.PROVISIONAL_SECONDS)  # what is built first is built once more
        again = read(port, SECONDS)
    assert before.statuses.keys() == again.statuses.keys() == {HTTPStatus.OK}
    assert after.statuses.keys() <= {HTTPStatus.OK, HTTPStatus.SERVICE_UNAVAILABLE}
    shed = [at - lost for at, status, _ in after.each if status == HTTPStatus.SERVICE_UNAVAILABLE]
    back = max([0.0, *shed])
    early = Answers([one for one in after.each if one[0] - lost <= max(back, 1.0)])
    setup = f"{READERS} readers of {THEIR_FOLLOWEES} each at random, {MANY_CONNECTIONS} connections, no pause after 503"
    figure = {"reference": None, "ratio": None, "setup": setup}
    return [
        {
            "name": "timeline: requests after Redis lost everything",
            "ours": again.rate(),
            "reference": before.rate(),
            "unit": "req/s",
            "ratio": again.rate() / before.rate(),
            "setup": f"{setup}; {BACK_WITHIN + layout.PROVISIONAL_SECONDS:.0f} s later, reference: before",
        },
        {"name": "timeline: ... until the last 503", "ours": back, "unit": "s", "at_most": BACK_WITHIN, **figure},
        {"name": "timeline: ... shed until then", "ours": 100 * len(shed) / len(early.each), "unit": "%", **figure},
        {
            "name": "timeline: ... p99 of the served until then",
            "ours": early.milliseconds(0.99),
            "unit": "ms",
            **figure,
        },
    ]


def confirmed() -> dict[str, Any]:
    """One page after the other while edges are settled, and while nobody knows."""
    crowd()

    def took(port: int) -> float:
        answers = asked(port, 1, SECONDS, lambda: (PAGE, small(random.randrange(READERS))))
        assert answers.statuses.keys() == {HTTPStatus.OK}
        return answers.milliseconds(0.5)

    with Redis.from_url(os.environ["REDIS_URL"]) as redis:
        with served() as (port, _):
            settle(port)
            for _ in range(2):  # the first finds them cold, or what was built too early
                with Connection(port) as connection:
                    for n in range(READERS):
                        connection.get(PAGE, small(n))
            plain = took(port)
        redis.delete(layout.EDGES_SETTLED)
        with served(edges=nullcontext()) as (port, _):
            late = took(port)
    return {
        "name": "timeline: a warm page that confirms its authors",
        "ours": late,
        "reference": plain,
        "unit": "ms",
        "ratio": late / plain,
        "setup": f"{READERS} readers of {THEIR_FOLLOWEES} each at random, one connection, median; DynamoDB Local; "
        "reference: the plain page",
    }


STACK = "kafka,dynamodb,redis,registry"
BENCHMARKS = [cold, comes_back, confirmed]
