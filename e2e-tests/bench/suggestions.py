"""What a page of suggestions costs: beside a route that does nothing, and at a steady hundred a second."""

import itertools
import os
import random
import statistics
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from http import HTTPStatus
from typing import Any

from contracts.tables import FOLLOWERS, USERS
from murmuration_suggested.layout import Suggestion, to_text
from murmuration_suggested.runs import Run
from murmuration_suggested.writer import SuggestedWriter, connect
from murmuration_testkit.dynamodb_local import dynamodb_local
from murmuration_testkit.redis_nodes import redis_node
from murmuration_testkit.rows import put_all

from .workers import Connection, processor_seconds, rate, served

SECONDS = float(os.environ.get("SECONDS_EACH", "5"))
READERS = int(os.environ.get("PEOPLE", "2000"))
OTHERS = 3_000
FRIENDS = 10
LISTED = 100
REASONS = 3
ROUNDS = 5
AT_ONCE = 8
A_SECOND = 100
STEADY_SECONDS = 20.0
PREFIX = os.environ.get("TABLE_PREFIX", "")
PAGE, NOTHING = "/v1/suggestions", "/v1/nothing"
MARK = uuid.uuid4().hex[:8]


def suggestions() -> list[dict[str, Any]]:
    """Read pages as few readers, whose looks are held, and as many; then a hundred a second as many."""
    few, many = itertools.cycle([_reader(n) for n in range(AT_ONCE)]), itertools.cycle(map(_reader, range(READERS)))
    rates: dict[str, list[float]] = {"nothing": [], "few": [], "many": []}
    spent: dict[str, list[float]] = {name: [] for name in rates}
    with (
        dynamodb_local(in_memory=True) as store,
        redis_node() as redis,
        served("noop:edge()", NOTHING) as nothing,
    ):
        _fill(store.client(), redis.url)
        environment = {**store.environment, "SUGGESTIONS_REDIS_URL": redis.url}
        with served("follow_service.app:create_app()", PAGE, **environment) as page:
            _once_each(page[0])
            for _ in range(ROUNDS):
                for name, (port, pid), path, who in (
                    ("nothing", nothing, NOTHING, few),
                    ("few", page, PAGE, few),
                    ("many", page, PAGE, many),
                ):
                    before = processor_seconds(pid)
                    rates[name].append(rate(AT_ONCE, SECONDS, partial(_asker, port, path, who)))
                    spent[name].append((processor_seconds(pid) - before) / (rates[name][-1] * SECONDS) * 1000)
            held, looked = (_steady(page[0], who) for who in (few, many))
    reference, of_few, of_many = (statistics.median(each) for each in rates.values())
    cost = {name: f"{statistics.median(each):.2f} ms" for name, each in spent.items()}
    how = f"median of {ROUNDS} rounds of {SECONDS:g} s, {AT_ONCE} at once, one process, DynamoDB Local in memory"
    steady = f"{A_SECOND} a second for {STEADY_SECONDS:g} s, from the moment at which each was due"
    return [
        {
            "name": "suggestions, warm page",
            "ours": of_few,
            "reference": reference,
            "unit": "req/s",
            "ratio": of_few / reference,
            "target": 0.6,
            "setup": f"{how}; {AT_ONCE} readers: a look at the tables is held for a second; reference: a route that "
            f"does nothing; processor {cost['few']} and {cost['nothing']}",
        },
        {
            "name": "suggestions, page that is looked up",
            "ours": of_many,
            "reference": reference,
            "unit": "req/s",
            "ratio": of_many / reference,
            "setup": f"{how}; {READERS} readers in turn, so each page is two BatchGetItem; processor {cost['many']}",
        },
        {
            "name": "suggestions, p99 of warm pages",
            "ours": held[0],
            "unit": "ms",
            "at_most": 20.0,
            "setup": f"{steady}; {AT_ONCE} readers; median {held[1]:.1f} ms",
        },
        {
            "name": "suggestions, p99 of pages that are looked up",
            "ours": looked[0],
            "unit": "ms",
            "at_most": 20.0,
            "setup": f"{steady}; {READERS} readers in turn; median {looked[1]:.1f} ms",
        },
    ]


def _reader(n: int) -> str:
    return f"r-{MARK}-{n}"


def _other(n: int) -> str:
    return f"o-{MARK}-{n}"


def _asker(port: int, path: str, who: Iterator[str]) -> Callable[[], None]:
    """Return what asks as one after the other, on a connection of its own."""
    connection = Connection(port)

    def ask() -> None:
        status = connection.status("GET", path, next(who))
        assert status == HTTPStatus.OK, status

    return ask


def _once_each(port: int) -> None:
    """Let the service verify each one's token before we measure; no store is asked."""
    connection = Connection(port)
    for n in range(READERS):
        assert connection.status("GET", f"{PAGE}?limit=0", _reader(n)) == HTTPStatus.BAD_REQUEST


def _steady(port: int, who: Iterator[str]) -> tuple[float, float]:
    """Ask so many times a second, however long answers take; return p99 and the median, in ms."""
    own = threading.local()
    begin = time.perf_counter() + 0.1

    def ask(number: int) -> float:
        due = begin + number / A_SECOND
        while (wait := due - time.perf_counter()) > 0:
            time.sleep(wait)
        if not hasattr(own, "ask"):
            own.ask = _asker(port, PAGE, who)
        own.ask()
        return (time.perf_counter() - due) * 1000

    with ThreadPoolExecutor(AT_ONCE) as pool:
        took = sorted(pool.map(ask, range(int(STEADY_SECONDS * A_SECOND))))
    return took[len(took) * 99 // 100], took[len(took) // 2]


def _fill(dynamodb: Any, url: str) -> None:
    """Have readers who follow some, and a run that suggests a hundred to each."""
    friends = {n: random.Random(n).sample(range(OTHERS), FRIENDS) for n in range(READERS)}
    put_all(dynamodb, PREFIX + USERS.name, map(_profile, [*map(_reader, range(READERS)), *map(_other, range(OTHERS))]))
    put_all(
        dynamodb,
        PREFIX + FOLLOWERS.name,
        (
            {
                FOLLOWERS.followee_id: {"S": _other(friend)},
                FOLLOWERS.follower_id: {"S": _reader(n)},
                FOLLOWERS.followed_at: {"N": "1"},
            }
            for n, those in friends.items()
            for friend in those
        ),
    )
    with closing(connect(url)) as nodes:
        writer = SuggestedWriter(nodes)
        version, histories = "20261119T010000Z", writer.histories()
        writer.write(version, ((_reader(n), _list(n, those)) for n, those in friends.items()))
        writer.switch(Run(version, 1, READERS), histories)


def _list(n: int, friends: list[int]) -> str:
    draw = random.Random(n)
    people = draw.sample([each for each in range(OTHERS) if each not in friends], LISTED)
    because = (tuple(map(_other, draw.sample(friends, REASONS))) for _ in people)
    return to_text(Suggestion(_other(each), FRIENDS, those) for each, those in zip(people, because, strict=True))


def _profile(person: str) -> dict[str, Any]:
    """Return somebody's row."""
    name = {USERS.user_id: {"S": person}, USERS.display_name: {"S": person}}
    counts = {USERS.followers_count: {"N": "12345"}, USERS.following_count: {"N": "321"}}
    return {**name, **counts, USERS.is_private: {"BOOL": False}, USERS.created_at: {"N": "1"}}


STACK = "gateway,limits-redis"
BENCHMARKS = [suggestions]
