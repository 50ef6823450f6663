"""What an edge adds to a request: to one that does nothing, and to a tweet."""

import itertools
import json
import os
import statistics
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from http import HTTPStatus
from typing import Any

from contracts.profiles import PROJECTION
from contracts.tables import TWEETS, USERS
from murmuration_testkit.dynamodb_local import dynamodb_local
from murmuration_testkit.rows import put_all

from .workers import Connection, processor_seconds, rate, served

REQUESTS = int(os.environ.get("REQUESTS", "4000"))
SECONDS = float(os.environ.get("SECONDS_EACH", "5"))
PEOPLE = int(os.environ.get("PEOPLE", "2000"))
ROUNDS = 5
CONNECTIONS = 4
AT_ONCE = 8
MOST_MS = 0.25
PREFIX = os.environ.get("TABLE_PREFIX", "")
TEXT = "what somebody says in a benchmark, of about the length that people write"
NOTHING = "/v1/nothing"
_ids = itertools.count(int(time.time() * 1000) << 22)


def nothing() -> dict[str, Any]:
    """Ask two services that do nothing, in turn, and compare the processor time of their workers."""
    paid: dict[str, list[float]] = {"bare": [], "edge": []}
    with served("noop:bare()", NOTHING) as bare, served("noop:edge()", NOTHING) as edge:
        for _ in range(ROUNDS):
            for name, (port, pid) in {"bare": bare, "edge": edge}.items():
                before = processor_seconds(pid)
                _ask(port)
                paid[name].append((processor_seconds(pid) - before) / REQUESTS * 1000)
    least = {name: min(each) for name, each in paid.items()}
    return {
        "name": "what libs/edge adds to a request, processor time",
        "ours": least["edge"] - least["bare"],
        "unit": "ms",
        "at_most": MOST_MS,
        "setup": f"Flask alone {least['bare']:.3f} ms, behind libs/edge {least['edge']:.3f} ms: least of {ROUNDS} "
        f"times {REQUESTS} requests by {CONNECTIONS} connections; gunicorn as on every edge, token verified, limits on",
    }


def posting() -> list[dict[str, Any]]:
    """Tweet as many people, each rarely, and as few; beside a loop of boto3 that reads an item and writes one."""
    people = [f"b-{uuid.uuid4().hex[:12]}" for _ in range(PEOPLE)]
    many, few = itertools.cycle(people), itertools.cycle(people[:AT_ONCE])
    rates: dict[str, list[float]] = {"bare": [], "many": [], "few": []}
    path = f"/v1/users/{people[0]}/tweets"
    with ExitStack() as stack:
        store = stack.enter_context(dynamodb_local(in_memory=True))
        dynamodb = store.client()
        put_all(dynamodb, PREFIX + USERS.name, map(_profile, people))
        port, _ = stack.enter_context(served("tweet_service.app:create_app()", path, **store.environment))
        _show_tokens(port, people)
        for _ in range(ROUNDS):
            rates["bare"].append(rate(AT_ONCE, SECONDS, lambda: lambda: _bare(dynamodb, next(many))))
            rates["many"].append(rate(AT_ONCE, SECONDS, lambda: _poster(port, many)))
            rates["few"].append(rate(AT_ONCE, SECONDS, lambda: _poster(port, few)))
    bare, of_many, of_few = (statistics.median(each) for each in rates.values())
    setup = f"median of {ROUNDS} rounds of {SECONDS:g} s, {AT_ONCE} at once, one process, DynamoDB Local in memory"
    figure = {"reference": bare, "unit": "tweets/s"}
    return [
        {
            **figure,
            "name": "POST tweet, of people who tweet rarely",
            "ours": of_many,
            "ratio": of_many / bare,
            "target": 0.75,
            "setup": f"{setup}; {PEOPLE} people in turn, each profile read anew; reference: bare GetItem and PutItem",
        },
        {
            **figure,
            "name": "POST tweet, of people who are remembered",
            "ours": of_few,
            "ratio": of_few / bare,
            "setup": f"{setup}; {AT_ONCE} people: {of_few / of_many - 1:+.0%} against those who tweet rarely",
        },
    ]


def _ask(port: int) -> None:
    """Send all the requests, by a few connections."""

    def some(_: int) -> None:
        connection = Connection(port)
        for _ in range(REQUESTS // CONNECTIONS):
            assert connection.status("GET", NOTHING, "somebody") == HTTPStatus.OK

    with ThreadPoolExecutor(CONNECTIONS) as pool:
        list(pool.map(some, range(CONNECTIONS)))


def _show_tokens(port: int, people: list[str]) -> None:
    """Let tweet-service verify each one's token before we measure; no store is asked."""
    connection = Connection(port)
    for person in people:
        assert connection.status("GET", "/v1/tweets/none", person) == HTTPStatus.NOT_FOUND


def _poster(port: int, people: Iterator[str]) -> Callable[[], None]:
    """Return what tweets as one after the other, on a connection of its own."""
    connection, body = Connection(port), json.dumps({"text": TEXT})

    def post() -> None:
        assert connection.status("POST", "/v1/tweets", next(people), body) == HTTPStatus.CREATED

    return post


def _bare(dynamodb: Any, person: str) -> None:
    """Read somebody's profile and write a tweet, as tweet-service does."""
    dynamodb.get_item(
        TableName=PREFIX + USERS.name,
        Key={USERS.user_id: {"S": person}},
        ProjectionExpression=PROJECTION,
        ConsistentRead=True,
    )
    dynamodb.put_item(
        TableName=PREFIX + TWEETS.name,
        Item={
            TWEETS.tweet_id: {"S": str(next(_ids))},
            TWEETS.author_id: {"S": person},
            TWEETS.live_author_id: {"S": person},
            TWEETS.text: {"S": TEXT},
            TWEETS.created_at: {"N": str(int(time.time() * 1000))},
        },
        ConditionExpression="attribute_not_exists(tweet_id)",
    )


def _profile(person: str) -> dict[str, Any]:
    """Return somebody's row."""
    name = {USERS.user_id: {"S": person}, USERS.display_name: {"S": person}}
    return {**name, USERS.is_private: {"BOOL": False}, USERS.created_at: {"N": "1"}}


STACK = "gateway,limits-redis"
BENCHMARKS = [nothing, posting]
