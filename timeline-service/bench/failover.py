"""One master of three is killed while ten thousand warm people read: how long until their pages are fast again."""

import os
import queue
import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from http import HTTPStatus
from typing import Any

from murmuration_testkit.dynamodb_local import dynamodb_local
from murmuration_testkit.redis_nodes import AS_IN_OPERATIONS, PATIENCE_MS, redis_cluster
from murmuration_testkit.rows import put_all
from murmuration_timelines.layout import BEGINNING
from murmuration_timelines.merge import Timeline
from murmuration_timelines.reader import TimelineReader, connect
from murmuration_timelines.shown import Shown

from .edges_settled import settled
from .readers import MARK, Answers, Connection, follow, say, served, token

READERS = int(os.environ.get("FAILOVER_READERS", "10000"))
AUTHORS = 500
THEIR_FOLLOWEES = 10
A_SECOND = int(os.environ.get("FAILOVER_RATE", "30"))
CONNECTIONS = 64
BEFORE_SECONDS = 10.0
AFTER_SECONDS = float(os.environ.get("FAILOVER_SECONDS", "90"))
FAST_SECONDS = 0.2  # or twice what 99 % took before, on a machine that is busy
ENOUGH = 0.99
WINDOW_SECONDS = 5
PAGE = "/v1/timeline?limit=20"
FILLING = 8


def failover() -> list[dict[str, Any]]:
    """Kill -9 a master of three with replicas, by Redis's own patience of 15 s, under a steady load of pages."""
    print(f"    {READERS} readers of {THEIR_FOLLOWEES} each, into tables and Redis", flush=True)
    with ExitStack() as stack:
        store = stack.enter_context(dynamodb_local(in_memory=True))
        cluster = stack.enter_context(redis_cluster(3, replicated=True, settings=AS_IN_OPERATIONS))
        _fill(store.client(), cluster.url)
        edges = settled(cluster.url)
        (port, _) = stack.enter_context(served(edges=edges, REDIS_URL=cluster.url, **store.environment))
        for n in range(READERS):
            token(_reader(n))  # signed before anything is measured
        with ThreadPoolExecutor(CONNECTIONS) as threads:
            before = _read(threads, port, BEFORE_SECONDS)
            master = cluster.masters()[0]
            replica = cluster.replica_of(master)
            master.kill()
            killed = time.perf_counter()
            promoted: list[float] = []
            watch = threading.Thread(target=_watch, args=(replica, promoted), daemon=True)
            watch.start()
            after = _read(threads, port, AFTER_SECONDS)
    assert before.statuses.keys() == {HTTPStatus.OK}
    assert after.statuses.keys() <= {HTTPStatus.OK, HTTPStatus.SERVICE_UNAVAILABLE}
    assert promoted, "no replica took the master's place"
    fast = max(FAST_SECONDS, 2 * before.milliseconds(0.99) / 1000)
    back = _slow_until(after, killed, fast)
    refused = after.statuses[HTTPStatus.SERVICE_UNAVAILABLE]
    setup = (
        f"{READERS} warm readers of {THEIR_FOLLOWEES} each at random, {A_SECOND} pages/s, one process; a replica took "
        f"the place {promoted[0] - killed:.1f} s after the kill (cluster-node-timeout {PATIENCE_MS / 1000:.0f} s); "
        f"p99 before {before.milliseconds(0.99):.0f} ms; fast is within {fast * 1000:.0f} ms"
    )
    common = {"reference": None, "ratio": None, "setup": setup}
    return [
        {
            "name": "failover: until pages are fast again",
            "ours": back,
            "unit": "s",
            **common,
        },
        {"name": f"failover: 503s, of {len(after.each)} pages", "ours": refused, "unit": "", **common},
        {"name": "failover: p99 of the served", "ours": after.milliseconds(0.99), "unit": "ms", **common},
        {"name": "failover: the slowest of the served", "ours": after.milliseconds(1.0), "unit": "ms", **common},
    ]


def _fill(dynamodb: Any, url: str) -> None:
    """Let everybody follow some, and have a warm timeline of what these said."""
    authors = [f"{MARK}-a{n}" for n in range(AUTHORS)]
    tweets = [*say(authors, 2)]
    said: dict[str, list[str]] = {}
    for tweet in tweets:
        said.setdefault(tweet["author_id"]["S"], []).append(tweet["tweet_id"]["S"])
    followed = {_reader(n): random.sample(authors, THEIR_FOLLOWEES) for n in range(READERS)}
    put_all(dynamodb, "tweets", tweets)
    put_all(dynamodb, "followers", (edge for reader, some in followed.items() for edge in follow(reader, some)))
    home = TimelineReader(connect(url)).home

    def warm(reader: str) -> None:
        some = followed[reader]
        ids = sorted((each for author in some for each in said[author]), reverse=True)
        begun = home.begin(reader)
        assert begun
        assert home.commit(reader, begun, Timeline(ids, BEGINNING, Shown.of([reader, *some])))

    with ThreadPoolExecutor(FILLING) as threads:
        list(threads.map(warm, followed))


def _reader(n: int) -> str:
    return f"{MARK}-r{n}"


def _read(threads: ThreadPoolExecutor, port: int, seconds: float) -> Answers:
    """Ask for a page of somebody so often a second, whether the earlier ones are answered or not."""
    answers, began = Answers(), time.perf_counter()
    turns: queue.SimpleQueue[int | None] = queue.SimpleQueue()
    for turn in [*range(int(seconds * A_SECOND)), *[None] * CONNECTIONS]:
        turns.put(turn)

    def ask(_: int) -> None:
        while (turn := turns.get()) is not None:
            due = began + turn / A_SECOND
            time.sleep(max(0.0, due - time.perf_counter()))
            with Connection(port) as connection:  # one that waits for its turn is closed by the service
                status, _body = connection.get(PAGE, _reader(random.randrange(READERS)))
            answers.each.append((time.perf_counter(), status, time.perf_counter() - due))

    list(threads.map(ask, range(CONNECTIONS)))
    return answers


def _slow_until(answers: Answers, killed: float, fast: float) -> float:
    """Return after how many seconds the last window ended in which over 1 % of the pages were slow or refused."""
    asked = [(ended - took - killed, status == HTTPStatus.OK and took <= fast) for ended, status, took in answers.each]
    slow = [0]
    for start in range(0, int(AFTER_SECONDS), WINDOW_SECONDS):
        good = [is_good for at, is_good in asked if start <= at < start + WINDOW_SECONDS]
        if good and sum(good) < ENOUGH * len(good):
            slow.append(start + WINDOW_SECONDS)
    return float(max(slow))


def _watch(replica: Any, promoted: list[float]) -> None:
    """Note when a replica has become a master."""
    until = time.perf_counter() + AFTER_SECONDS
    while time.perf_counter() < until:
        if replica.redis.role()[0] == "master":
            promoted.append(time.perf_counter())
            return
        time.sleep(0.05)


STACK = "limits-redis"
BENCHMARKS = [failover]
