"""What follow-service adds to the calls of DynamoDB that its answers need, and how long people wait for these."""

import itertools
import os
import statistics
import threading
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterator
from http import HTTPStatus
from typing import Any

from contracts.tables import BLOCKS, FOLLOW_REQUESTS, FOLLOWERS, MUTES, USERS
from murmuration_testkit.dynamodb_local import dynamodb_local
from murmuration_testkit.rows import put_all

from .workers import Connection, p99, paced, rate, served

SECONDS = float(os.environ.get("SECONDS_EACH", "4"))
PACED_SECONDS = float(os.environ.get("PACED_SECONDS", "30"))
ROUNDS = int(os.environ.get("ROUNDS", "5"))
AT_ONCE = 8
PEOPLE = int(os.environ.get("PEOPLE", "2000"))
ON_HAND = 5 * PEOPLE  # follows of each side that are there to be taken back
FASTEST = {"POST follow": (50, 100), "GET relationships of one": (100, 50)}  # requests a second, and ms at most
CALLS = {
    "POST follow": "BatchGetItem and TransactWriteItems",
    "DELETE follow": "two DeleteItems",
    "GET relationships of one": "BatchGetItem",
}
ONE = "/v1/relationships?id={}"
PREFIX = os.environ.get("TABLE_PREFIX", "")
APP = "follow_service.app:create_app()"
Pair = tuple[str, str]
Do = Callable[[], None]


class Side:
    """Some people: pairs of whom one follows the other, and pairs who do not yet."""

    def __init__(self, name: str) -> None:
        self.people = [f"{name}-{uuid.uuid4().hex[:12]}" for _ in range(PEOPLE)]
        pairs = self._pairs()
        self.followed = deque(itertools.islice(pairs, ON_HAND))
        self.pairs = itertools.cycle([*self.followed])
        self._apart = pairs
        self._turn = threading.Lock()

    def seed(self, dynamodb: Any) -> None:
        """Write the people, and who follows whom."""
        put_all(dynamodb, PREFIX + USERS.name, map(profile, self.people))
        put_all(dynamodb, PREFIX + FOLLOWERS.name, (edge(pair, 1) for pair in self.followed))

    def follow(self) -> Pair:
        """Return who is to follow whom next; nobody is followed more often than others."""
        with self._turn:
            self.followed.append(pair := next(self._apart))
        return pair

    def unfollow(self) -> Pair:
        """Return who is to unfollow whom next; whom they followed first."""
        return self.followed.popleft()

    def _pairs(self) -> Iterator[Pair]:
        for step in range(1, PEOPLE):
            for n, follower in enumerate(self.people):
                yield follower, self.people[(n + step) % PEOPLE]


def follows() -> list[dict[str, Any]]:
    """Follow, unfollow and ask for relationships, beside a loop of boto3, and then as often as many people do."""
    ours, bare = Side("ours"), Side("bare")
    with dynamodb_local(in_memory=True) as store:
        dynamodb = store.client()
        for side in (ours, bare):
            side.seed(dynamodb)
        with served(APP, f"/v1/users/{ours.people[0]}", **store.environment) as (port, _):
            show_tokens(port, ours.people)
            by_http: dict[str, Callable[[], Do]] = {
                "POST follow": lambda: _asks(port, "POST", "/v1/users/{}/follow", ours.follow),
                "DELETE follow": lambda: _asks(port, "DELETE", "/v1/users/{}/follow", ours.unfollow),
                "GET relationships of one": lambda: _asks(port, "GET", ONE, ours.pairs.__next__),
            }
            by_hand: dict[str, Do] = {
                "POST follow": lambda: _bare_follow(dynamodb, bare.follow()),
                "DELETE follow": lambda: _bare_unfollow(dynamodb, bare.unfollow()),
                "GET relationships of one": lambda: _bare_ties(dynamodb, next(bare.pairs)),
            }
            rates: dict[str, list[tuple[float, float]]] = {kind: [] for kind in by_http}
            for _, (kind, do) in itertools.product(range(ROUNDS), by_hand.items()):
                reference = rate(AT_ONCE, SECONDS, lambda do=do: do)  # type: ignore[misc]
                rates[kind].append((rate(AT_ONCE, SECONDS, by_http[kind]), reference))
            waits = {kind: paced(pace, PACED_SECONDS, AT_ONCE, by_http[kind]) for kind, (pace, _) in FASTEST.items()}
    setup = f"median of {ROUNDS} rounds of {SECONDS:g} s, {AT_ONCE} at once, one process, DynamoDB Local in memory"
    return [
        *(_beside(kind, rates[kind], f"{setup}; reference: bare {calls}") for kind, calls in CALLS.items()),
        *(_waited(kind, took) for kind, took in waits.items()),
    ]


def profile(person: str, **counts: int) -> dict[str, Any]:
    """Return somebody's row."""
    row = {USERS.user_id: {"S": person}, USERS.display_name: {"S": person}, USERS.is_private: {"BOOL": False}}
    return {**row, USERS.created_at: {"N": "1"}, **{name: {"N": str(count)} for name, count in counts.items()}}


def edge(pair: Pair, at: int) -> dict[str, Any]:
    """Return the row by which one follows the other."""
    part = {FOLLOWERS.part: {"S": FOLLOWERS.part_of(pair[1], pair[0])}}
    return {**_edge_key(pair), FOLLOWERS.followed_at: {"N": str(at)}, **part}


def show_tokens(port: int, people: list[str]) -> None:
    """Let follow-service verify each one's token before we measure; no store is asked."""
    connection = Connection(port)
    for person in people:
        assert connection.status("GET", "/v1/relationships", person) == HTTPStatus.BAD_REQUEST


def _asks(port: int, method: str, path: str, pair: Callable[[], Pair]) -> Do:
    """Return what sends a request about one pair after the other, on a connection of its own."""
    connection = Connection(port)

    def ask() -> None:
        me, them = pair()
        connection.insist(method, path.format(them), me)

    return ask


def _beside(kind: str, rates: list[tuple[float, float]], setup: str) -> dict[str, Any]:
    ours, bare = (statistics.median(each) for each in zip(*rates, strict=True))
    figure = {"reference": bare, "ratio": ours / bare, "target": 0.75, "unit": "req/s", "setup": setup}
    return {"name": kind, "ours": ours, **figure}


def _waited(kind: str, took: list[float]) -> dict[str, Any]:
    pace, most = FASTEST[kind]
    half = took[len(took) // 2]
    setup = f"{len(took)} requests in {PACED_SECONDS:g} s, each timed from when it was due; p50 {half:.1f} ms"
    return {"name": f"{kind}, {pace}/s, p99", "ours": p99(took), "unit": "ms", "at_most": most, "setup": setup}


def _bare_follow(dynamodb: Any, pair: Pair) -> None:
    """Read and write what a follow reads and writes."""
    dynamodb.batch_get_item(RequestItems=_keys(pair, USERS, FOLLOWERS, FOLLOW_REQUESTS, BLOCKS))
    unblocked = [
        {"TableName": PREFIX + BLOCKS.name, "Key": key, "ConditionExpression": "attribute_not_exists(pair)"}
        for key in _block_keys(pair)
    ]
    put = {
        "TableName": PREFIX + FOLLOWERS.name,
        "Item": edge(pair, time.time_ns() // 1_000_000),
        "ConditionExpression": "attribute_not_exists(followee_id)",
    }
    dynamodb.transact_write_items(TransactItems=[{"Put": put}, *({"ConditionCheck": each} for each in unblocked)])


def _bare_unfollow(dynamodb: Any, pair: Pair) -> None:
    for table in (FOLLOW_REQUESTS, FOLLOWERS):
        dynamodb.delete_item(TableName=PREFIX + table.name, Key=_edge_key(pair))


def _bare_ties(dynamodb: Any, pair: Pair) -> None:
    """Read what two people are to each other."""
    asked = _keys(pair, USERS, FOLLOWERS, FOLLOW_REQUESTS, BLOCKS, MUTES)
    back = _edge_key(pair[::-1])
    for table in (FOLLOWERS, FOLLOW_REQUESTS):
        asked[PREFIX + table.name]["Keys"].append(back)
    del asked[PREFIX + USERS.name]["Keys"][0]  # nobody's own row is looked at
    dynamodb.batch_get_item(RequestItems=asked)


def _keys(pair: Pair, *tables: Any) -> dict[str, Any]:
    follower, followee = pair
    keys = {
        USERS: [{USERS.user_id: {"S": each}} for each in pair],
        FOLLOWERS: [_edge_key(pair)],
        FOLLOW_REQUESTS: [_edge_key(pair)],
        BLOCKS: _block_keys(pair),
        MUTES: [{MUTES.muter_id: {"S": follower}, MUTES.muted_id: {"S": followee}}],
    }
    return {PREFIX + table.name: {"Keys": [*keys[table]], "ConsistentRead": True} for table in tables}


def _edge_key(pair: Pair) -> dict[str, Any]:
    return {FOLLOWERS.followee_id: {"S": pair[1]}, FOLLOWERS.follower_id: {"S": pair[0]}}


def _block_keys(pair: Pair) -> list[dict[str, Any]]:
    return [{BLOCKS.pair: {"S": BLOCKS.pair_of(*each)}} for each in (pair, pair[::-1])]


STACK = "gateway,limits-redis"
BENCHMARKS = [follows]
