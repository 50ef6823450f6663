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
from contextlib import closing, contextmanager
from functools import partial
from http import HTTPStatus
from typing import Any

from contracts.tables import FOLLOWERS, USERS
from follow_service.kept_pages import pages_key
from follow_service.kept_topics import PARTITIONS, SETTLED
from murmuration_runtime.periodic import repeated
from murmuration_runtime.redis_settled import RedisSettled
from murmuration_suggested.layout import Suggestion, to_text
from murmuration_suggested.runs import Run
from murmuration_suggested.writer import SuggestedWriter, connect
from murmuration_testkit.dynamodb_local import dynamodb_local
from murmuration_testkit.redis_nodes import redis_node
from murmuration_testkit.rows import put_all

from .workers import Connection, processor_seconds, rate, served

SECONDS = float(os.environ.get("SECONDS_EACH", "5"))
READERS = int(os.environ.get("PEOPLE", "500"))
OTHERS = 3_000
FRIENDS = 10
LISTED = 100
REASONS = 3
ROUNDS = 5
AT_ONCE = 8
A_SECOND = 100
STEADY_SECONDS = 20.0
SAID_EVERY_SECONDS = 0.5
MARK_AND_PAGE = 2  # fields of a reader whose page is kept
PREFIX = os.environ.get("TABLE_PREFIX", "")
PAGE, NOTHING = "/v1/suggestions", "/v1/nothing"
MARK = uuid.uuid4().hex[:8]


def suggestions() -> list[dict[str, Any]]:
    """Read pages that are kept, at random, and pages that are looked up; then each a hundred times a second."""
    draw = random.Random(1)
    people = [_reader(n) for n in range(READERS)]
    in_turn = itertools.cycle(people)
    who: dict[str, Callable[[], str]] = {
        "nothing": partial(draw.choice, people),
        "kept": partial(draw.choice, people),
        "looked up": lambda: next(in_turn),
    }
    rates: dict[str, list[float]] = {name: [] for name in who}
    spent: dict[str, list[float]] = {name: [] for name in who}
    with (
        dynamodb_local(in_memory=True) as store,
        redis_node() as redis,
        redis_node() as graph_redis,
        served("noop:edge()", NOTHING) as nothing,
    ):
        _fill(store.client(), redis.url)
        environment = {**store.environment, "SUGGESTIONS_REDIS_URL": redis.url}
        with (
            _settled(graph_redis.url),
            served("follow_service.app:create_app()", PAGE, GRAPH_REDIS_URL=graph_redis.url, **environment) as kept,
            served("follow_service.app:create_app()", PAGE, GRAPH_REDIS_URL=redis.url, **environment) as looked_up,
        ):
            _once_each(looked_up[0], f"{PAGE}?limit=0", HTTPStatus.BAD_REQUEST)
            _once_each(kept[0], PAGE, HTTPStatus.OK)
            for _ in range(ROUNDS):
                for name, (port, pid), path in (
                    ("nothing", nothing, NOTHING),
                    ("kept", kept, PAGE),
                    ("looked up", looked_up, PAGE),
                ):
                    before = processor_seconds(pid)
                    rates[name].append(rate(AT_ONCE, SECONDS, partial(_asker, port, path, who[name])))
                    spent[name].append((processor_seconds(pid) - before) / (rates[name][-1] * SECONDS) * 1000)
            of_kept = _steady(kept[0], who["kept"])
            _check_that_all_are_kept(graph_redis.url)
            of_looked_up = _steady(looked_up[0], who["looked up"])
    reference, warm, cold = (statistics.median(each) for each in rates.values())
    cost = {name: f"{statistics.median(each):.2f} ms" for name, each in spent.items()}
    how = (
        f"median of {ROUNDS} rounds of {SECONDS:g} s, {AT_ONCE} at once, one process, DynamoDB Local in memory, load "
        f"average {os.getloadavg()[0]:.0f}"
    )
    steady = f"{A_SECOND} a second for {STEADY_SECONDS:g} s, from the moment at which each was due"
    return [
        {
            "name": "suggestions, warm page",
            "ours": warm,
            "reference": reference,
            "unit": "req/s",
            "ratio": warm / reference,
            "target": 0.6,
            "setup": f"{how}; {READERS} readers at random, whose pages are kept; reference: a route that does nothing; "
            f"processor {cost['kept']} and {cost['nothing']}",
        },
        {
            "name": "suggestions, page that is looked up",
            "ours": cold,
            "reference": reference,
            "unit": "req/s",
            "ratio": cold / reference,
            "setup": f"{how}; {READERS} readers in turn, while it is not known that what is kept is settled: each page "
            f"is two BatchGetItem; processor {cost['looked up']}",
        },
        {
            "name": "suggestions, p99 of warm pages",
            "ours": of_kept[0],
            "unit": "ms",
            "at_most": 20.0,
            "setup": f"{steady}; {READERS} readers at random; median {of_kept[1]:.1f} ms",
        },
        {
            "name": "suggestions, p99 of pages that are looked up",
            "ours": of_looked_up[0],
            "unit": "ms",
            "setup": f"{steady}; {READERS} readers in turn; median {of_looked_up[1]:.1f} ms",
        },
    ]


@contextmanager
def _settled(url: str) -> Iterator[None]:
    """Say in follow-keeper's place, for as long as the context lasts, that what is kept is settled until now."""
    with closing(connect(url)) as nodes:
        settled = RedisSettled(nodes, SETTLED, PARTITIONS)

        def say() -> None:
            settled.write(dict.fromkeys(PARTITIONS, time.time_ns() // 1_000_000))

        say()
        with repeated("settled", say, SAID_EVERY_SECONDS):
            yield


def _check_that_all_are_kept(url: str) -> None:
    """Refuse to tell a figure of pages that were looked up."""
    with closing(connect(url)) as nodes:
        missing = [n for n in range(READERS) if nodes.client.hlen(pages_key(_reader(n))) < MARK_AND_PAGE]
    assert not missing, f"{len(missing)} of {READERS} readers' pages are not kept"


def _reader(n: int) -> str:
    return f"r-{MARK}-{n}"


def _other(n: int) -> str:
    return f"o-{MARK}-{n}"


def _asker(port: int, path: str, who: Callable[[], str]) -> Callable[[], None]:
    """Return what asks as one after the other, on a connection of its own."""
    connection = Connection(port)

    def ask() -> None:
        status = connection.status("GET", path, who())
        assert status == HTTPStatus.OK, status

    return ask


def _once_each(port: int, path: str, expected: HTTPStatus) -> None:
    """Let the service verify each one's token before we measure, and look their page up unless it is refused."""
    connection = Connection(port)
    for n in range(READERS):
        status = connection.status("GET", path, _reader(n))
        assert status == expected, status


def _steady(port: int, who: Callable[[], str]) -> tuple[float, float]:
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
        version, begun = "20261119T010000Z", writer.begin()
        writer.write(version, ((_reader(n), _list(n, those)) for n, those in friends.items()))
        writer.switch(Run(version, 1, READERS), begun)


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
