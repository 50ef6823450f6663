"""What a page of a home timeline costs, beside a route that does nothing; cold ones; and all cold at once."""

import json
import os
import random
import time
import uuid
from collections.abc import Callable
from functools import cache, partial
from http import HTTPStatus
from typing import Any

from redis import Redis

from murmuration_timelines import layout

from .readers import Answers, Connection, asked, follow, median, say, served, write

FOLLOWEES = int(os.environ.get("FOLLOWEES", "500"))
CELEBRITIES = (0, 5, 50)
SECONDS = float(os.environ.get("SECONDS_EACH", "3"))
ROUNDS = 5
CONNECTIONS = 4
COLD_READS = 30
READERS = int(os.environ.get("READERS", "200"))
THEIR_FOLLOWEES = 50
MANY_CONNECTIONS = 16
BACK_WITHIN = 30.0
MARK = f"b-{uuid.uuid4().hex[:8]}"
PAGE = "/v1/timeline?limit=20"


@cache
def crowd() -> None:
    """Let some people follow five hundred authors, and no, few or many celebrities; the lists will be full."""
    authors = [f"{MARK}-a{n}" for n in range(FOLLOWEES)]
    famous = [f"{MARK}-c{n}" for n in range(max(CELEBRITIES))]
    write("users", ({"user_id": {"S": name}, "celebrity_since": {"S": "1"}} for name in famous))
    write("tweets", say([*authors, *famous], 2))
    write("followers", (edge for k in CELEBRITIES for edge in follow(reader(k), authors + famous[:k])))
    write(
        "followers",
        (edge for n in range(READERS) for edge in follow(small(n), random.sample(authors, THEIR_FOLLOWEES))),
    )


def reader(celebrities: int) -> str:
    """Name who follows so many of them."""
    return f"{MARK}-r{celebrities}"


def small(n: int) -> str:
    """Name one of the many who follow few."""
    return f"{MARK}-s{n}"


def settle(port: int) -> None:
    """Wait until a process trusts a Redis that is new to it: what it builds until then is built again soon."""
    with Connection(port) as connection:
        connection.get(PAGE, small(0))
    time.sleep(layout.SETTLING_SECONDS)


def warm() -> list[dict[str, Any]]:
    """Twenty tweets with bodies from warm timelines, against the no-op route of the same process, by turns."""
    crowd()
    figures = []
    with served() as port:
        settle(port)
        for celebrities in CELEBRITIES:
            user = reader(celebrities)
            with Connection(port) as connection:
                status, body = connection.get(PAGE, user)
                assert (status, len(json.loads(body)["tweets"])) == (HTTPStatus.OK, 20), body
            pages: list[Answers] = []
            nothings: list[Answers] = []
            for _ in range(ROUNDS):
                nothings.append(asked(port, CONNECTIONS, SECONDS, lambda: ("/v1/nothing", None)))
                pages.append(asked(port, CONNECTIONS, SECONDS, partial(lambda user: (PAGE, user), user)))
            setup = f"one reader of {FOLLOWEES} and {celebrities} celebrities, list of 800, {CONNECTIONS} connections, "
            setup += f"medians of {ROUNDS} runs of {SECONDS:.0f} s by turns; reference: a no-op route there"
            figures.append(_figure(celebrities, "requests", Answers.rate, pages, nothings, "req/s", 0.6, setup))
            for name, quantile in (("p50", 0.5), ("p99", 0.99)):
                took = partial(Answers.milliseconds, quantile=quantile)
                figures.append(_figure(celebrities, name, took, pages, nothings, "ms", None, setup))
    return figures


def _figure(
    celebrities: int,
    name: str,
    of: Callable[[Answers], float],
    pages: list[Answers],
    nothings: list[Answers],
    unit: str,
    target: float | None,
    setup: str,
) -> dict[str, Any]:
    assert all(one.statuses.keys() == {HTTPStatus.OK} for one in pages + nothings)
    ours, reference = median(map(of, pages)), median(map(of, nothings))
    return {
        "name": f"timeline: warm page, {celebrities} celebrities, {name}",
        "ours": ours,
        "reference": reference,
        "unit": unit,
        "ratio": ours / reference,
        "target": target,
        "setup": setup,
    }


def cold() -> list[dict[str, Any]]:
    """One reader whose timeline is evicted before every read."""
    crowd()
    user = reader(0)
    took = []
    with served() as port, Connection(port) as connection, Redis.from_url(os.environ["REDIS_URL"]) as redis:
        connection.get(PAGE, user)
        for _ in range(COLD_READS):
            redis.delete(layout.home_timeline(user), layout.followees(user))
            began = time.perf_counter()
            assert connection.get(PAGE, user)[0] == HTTPStatus.OK
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

    with served() as port, Redis.from_url(os.environ["REDIS_URL"]) as redis:
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


STACK = "kafka,dynamodb,redis,registry"
BENCHMARKS = [warm, cold, comes_back]
