"""Profiles from the cache: beside a route that does nothing; how many are there, and how old, under a skewed load."""

import itertools
import os
import random
import statistics
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from typing import Any

import boto3

from contracts.tables import USERS
from murmuration_testkit.people import Person
from murmuration_testkit.probes import get
from murmuration_testkit.rows import put_all
from murmuration_testkit.services import PROCESSES

from .workers import Connection, rate, served

SECONDS = float(os.environ.get("SECONDS_EACH", "5"))
LOAD_SECONDS = float(os.environ.get("LOAD_SECONDS", "30"))
PEOPLE = 10_000
VIEWERS = 20
A_SECOND = 100
READS_A_WRITE = 100
ROUNDS = 5
AT_ONCE = 4
LONGEST_WAIT = 10.0
PREFIX = os.environ.get("TABLE_PREFIX", "")
NOTHING = "/v1/nothing"


def profile() -> list[dict[str, Any]]:
    """Read a profile that is kept, and nothing, in turn; then profiles at 100/s."""
    people = _join(100)
    path = f"/v1/users/{people[0]}"
    rates: dict[str, list[float]] = {"noop": [], "profile": []}
    with served("noop:edge()", NOTHING) as noop, served("follow_service.app:create_app()", path) as ours:
        for _ in range(ROUNDS):
            rates["noop"].append(rate(AT_ONCE, SECONDS, lambda: _reader(noop[0], itertools.repeat(NOTHING))))
            rates["profile"].append(rate(AT_ONCE, SECONDS, lambda: _reader(ours[0], itertools.repeat(path))))
        paths = itertools.cycle(f"/v1/users/{each}" for each in people)
        times = _paced(ours[0], paths)
    nothing, kept = (statistics.median(each) for each in rates.values())
    setup = f"one process, {AT_ONCE} connections; median of {ROUNDS} rounds of {SECONDS:g} s"
    return [
        {
            "name": "GET profile, kept",
            "ours": kept,
            "reference": nothing,
            "unit": "req/s",
            "ratio": kept / nothing,
            "target": 0.6,
            "setup": f"{setup}; reference: a route behind libs/edge that does nothing",
        },
        {
            "name": f"GET profile, kept, p99 at {A_SECOND}/s",
            "ours": statistics.quantiles(times, n=100)[98] * 1000,
            "unit": "ms",
            "at_most": 50,
            "setup": f"{len(times)} requests for 100 people, p50 {statistics.median(times) * 1000:.2g} ms",
        },
    ]


def skewed() -> list[dict[str, Any]]:
    """Read profiles by a Zipf(1.0) law, and rename one for each hundred reads; poll until the new name shows."""
    people = _join(PEOPLE)
    viewers = [Person(f"Viewer {n}").join() for n in range(VIEWERS)]
    for start, viewer in zip(range(0, PEOPLE, 100), itertools.cycle(viewers), strict=False):
        ids = "&id=".join(people[start : start + 100])
        viewer.insist("GET", f"/v1/users?id={ids}")
    for viewer in viewers:
        viewer.insist("GET", f"/v1/users/{people[0]}")
    weights = [*itertools.accumulate(1 / place for place in range(1, PEOPLE + 1))]
    chosen = random.choices(people, cum_weights=weights, k=int(LOAD_SECONDS * A_SECOND))
    before = _reads()
    late, polls = _under_load(chosen, viewers, _rename)
    reads = {outcome: count - before.get(outcome, 0) for outcome, count in _reads().items()}
    reads["hit"] -= sum(polls)  # at most: none of them counts
    hits = reads["hit"] / sum(reads.values())
    late_follows, _ = _under_load(chosen, viewers, _follow)
    load = f"{A_SECOND} reads/s for {LOAD_SECONDS:g} s, one rename for each {READS_A_WRITE}"
    setup = f"Zipf(1.0) over {PEOPLE:,} accounts, {load}"
    return [
        {
            "name": "profiles that are kept",
            "ours": hits * 100,
            "reference": 100.0,
            "unit": "%",
            "ratio": hits,
            "target": 0.95,
            "setup": f"{setup}; warmed up by one read of each; {reads}",
        },
        {
            "name": "a new name → shown to others, p99",
            "ours": statistics.quantiles(late, n=100, method="inclusive")[98],
            "unit": "s",
            "at_most": 2.0,
            "setup": f"{len(late)} renames, p50 {statistics.median(late):.2g} s; who renames tells the cache",
        },
        {
            "name": "a new follower → in the list that others see, p99",
            "ours": statistics.quantiles(late_follows, n=100, method="inclusive")[98],
            "unit": "s",
            "at_most": 2.0,
            "setup": f"{len(late_follows)} follows under the same load, p50 {statistics.median(late_follows):.2g} s",
        },
    ]


def _under_load(
    chosen: Sequence[str], viewers: Sequence[Person], write: Callable[[str, Person], tuple[float, int]]
) -> tuple[Sequence[float], Sequence[int]]:
    """Read these, and change one for each hundred; return after how long it was seen, and how often was looked."""
    with ThreadPoolExecutor(64) as threads:
        began, written = time.monotonic(), []
        for number, user_id in enumerate(chosen):
            time.sleep(max(0, began + number / A_SECOND - time.monotonic()))
            viewer = viewers[number % VIEWERS]
            threads.submit(viewer.insist, "GET", f"/v1/users/{user_id}")
            if number % READS_A_WRITE == 0:
                written.append(threads.submit(write, user_id, viewer))
        late, polls = zip(*(each.result() for each in written), strict=True)
    return late, polls


def _join(count: int) -> list[str]:
    """Put so many accounts into the table."""
    people = [f"kept-{uuid.uuid4().hex[:12]}" for _ in range(count)]
    put_all(boto3.client("dynamodb"), PREFIX + USERS.name, map(_row, people))
    return people


def _row(person: str) -> dict[str, Any]:
    name = {USERS.user_id: {"S": person}, USERS.display_name: {"S": person}, USERS.version: {"N": "1"}}
    return {**name, USERS.is_private: {"BOOL": False}, USERS.created_at: {"N": "1"}}


def _reader(port: int, paths: Iterator[str]) -> Callable[[], None]:
    """Return what reads as one after the other, on a connection of its own."""
    connection = Connection(port)

    def read() -> None:
        assert connection.status("GET", next(paths), "somebody") == HTTPStatus.OK

    return read


def _paced(port: int, paths: Iterator[str]) -> list[float]:
    """Return how long each of so many requests a second took."""
    read, times, began = _reader(port, paths), [], time.perf_counter()
    for number in range(int(SECONDS * A_SECOND * 4)):
        time.sleep(max(0, began + number / A_SECOND - time.perf_counter()))
        start = time.perf_counter()
        read()
        times.append(time.perf_counter() - start)
    return times


def _rename(user_id: str, viewer: Person) -> tuple[float, int]:
    """Give somebody a new name, and return after how many seconds a viewer sees it, and how often they asked."""
    name = f"n-{uuid.uuid4().hex[:12]}"
    Person(user_id=user_id).insist("PUT", "/v1/users/me", json={"display_name": name})
    return _seen(lambda: viewer.insist("GET", f"/v1/users/{user_id}")["display_name"] == name)


def _follow(user_id: str, viewer: Person) -> tuple[float, int]:
    """Let somebody new follow somebody, and return the same of the newest of their followers."""
    follower = Person("Follower").join()
    follower.insist("POST", f"/v1/users/{user_id}/follow")
    path = f"/v1/users/{user_id}/followers?limit=1"
    return _seen(lambda: follower.user_id in {row["user_id"] for row in viewer.insist("GET", path)["users"]})


def _seen(shows: Callable[[], bool]) -> tuple[float, int]:
    """Return after how many seconds it shows, and how often that was asked."""
    began, polls = time.monotonic(), 0
    while time.monotonic() - began < LONGEST_WAIT:
        polls += 1
        if shows():
            return time.monotonic() - began, polls
        time.sleep(0.02)
    return LONGEST_WAIT, polls


def _reads() -> dict[str, float]:
    """Return how many profiles follow-service was asked for since its start, by where they were."""
    port = os.environ[PROCESSES["follow-service"].port_variable("ADMIN_PORT")]
    _, text = get(f"http://127.0.0.1:{port}/metrics")
    lines = [line.rpartition(" ") for line in str(text).splitlines() if line.startswith("graph_cache_reads_total{")]
    return {
        outcome: float(value)
        for outcome in ("hit", "miss", "away")
        for name, _, value in lines
        if f'outcome="{outcome}"' in name and 'of="profiles"' in name
    }


BENCHMARKS = [profile, skewed]
