"""An account with very many edges leaves and another with as many requests goes public, while the finisher is killed.

EDGES in the environment says how many of each; 100,000 unless set.
"""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any

import boto3
from botocore.config import Config

from contracts.tables import FOLLOW_REQUESTS, FOLLOWERS, USERS
from murmuration_testkit.dynamodb_local import DynamoDbLocal, dynamodb_local
from murmuration_testkit.ports import free_port

STACK = "dynamodb"
TIME_LIMIT_S = 7_200
EDGES = int(os.environ.get("EDGES", "100000"))
KILLS = 5
LOOK_S = 5.0  # between two looks at what is left
GONE, OPENED = "gone", "opened"
THEN = 1_700_000_000_000
Row = dict[str, Any]


def finished() -> dict[str, Any]:
    """Seed both accounts, run the finisher with kills until neither is due, and look at what there is."""
    with dynamodb_local(in_memory=True) as store:
        seed(store)
        began = time.monotonic()
        kills = _finish(store, random.Random(EDGES))
        seconds = time.monotonic() - began
        left = _left(store)
        accepted = _count(store, "followers", "followee_id", OPENED)
    differences = [f"{left} edges and requests are left"] if left else []
    if accepted != EDGES:
        differences.append(f"{accepted} of {EDGES} requests were accepted")
    return {
        "name": f"an account with {EDGES:,} edges leaves, another with {EDGES:,} requests goes public",
        "faults": f"the finisher killed -9 {kills} times",
        "compared": "what is left of the one with nothing, the followers of the other with who had asked",
        "differences": differences,
        "counts": f"{seconds:,.0f} s, {2 * EDGES / seconds:,.0f} rows/s",
    }


def seed(store: DynamoDbLocal) -> None:
    """Write the rows as the service leaves them: half of the edges of GONE are followers, half are followed."""
    profile = {USERS.is_private: {"BOOL": False}, USERS.created_at: _number(THEN), USERS.version: _number(1)}
    gone = {USERS.deleted_at: _number(THEN), USERS.departure: _text(USERS.DUE)}
    opened = {USERS.opening: _text(USERS.DUE), USERS.opened_at: _number(THEN)}
    people = [(_name(n), {USERS.display_name: _text("Somebody")}) for n in range(EDGES)]
    everybody = [*people, (GONE, gone), (OPENED, opened)]
    _write(store, USERS.name, ({USERS.user_id: _text(who)} | profile | more for who, more in everybody))
    _write(store, FOLLOWERS.name, map(_edge, range(EDGES)))
    _write(store, FOLLOW_REQUESTS.name, map(_request, range(EDGES)))


def _edge(n: int) -> Row:
    followee, follower = (GONE, _name(n)) if n % 2 else (_name(n), GONE)
    pair = {FOLLOWERS.followee_id: _text(followee), FOLLOWERS.follower_id: _text(follower)}
    return {**pair, FOLLOWERS.followed_at: _number(THEN + n)}


def _request(n: int) -> Row:
    pair = {FOLLOW_REQUESTS.followee_id: _text(OPENED), FOLLOW_REQUESTS.follower_id: _text(_name(n))}
    return {**pair, FOLLOW_REQUESTS.requested_at: _number(THEN + n)}


def _finish(store: DynamoDbLocal, chance: random.Random) -> int:
    """Have one finisher after the other; kill each but the last somewhere in its work. Return how many were killed."""
    kills = 0
    due = 2 * EDGES
    while due:
        with _finisher(store) as process:
            until = chance.uniform(0.7, 0.9) * due if kills < KILLS else 0
            while due > until or not (until or _nobody_is_due(store)):
                if process.poll() is not None:
                    raise RuntimeError(f"the finisher ended with {process.returncode}")
                time.sleep(LOOK_S)
                due = _left(store)
        if until:
            kills += 1
            print(f"    killed with {due:,} rows left", flush=True)
    return kills


def _left(store: DynamoDbLocal) -> int:
    edges = _count(store, "followers", "followee_id", GONE)
    edges += _count(store, "followers", "follower_id", GONE, "by_follower")
    return edges + _count(store, "follow_requests", "followee_id", OPENED, pending=True)


def _nobody_is_due(store: DynamoDbLocal) -> bool:
    return not any(
        _count(store, "users", mark, USERS.DUE, index)
        for mark, index in ((USERS.departure, USERS.by_departure), (USERS.opening, USERS.by_opening))
    )


@contextmanager
def _finisher(store: DynamoDbLocal) -> Iterator["subprocess.Popen[bytes]"]:
    """Run it as fast as it can, and kill it in the end."""
    environment = {
        **os.environ,
        **store.environment,
        "HOST": "127.0.0.1",
        "ADMIN_PORT": str(free_port()),
        "FINISHING_RATE": "100000",
        "FINISHING_SETTLED_SECONDS": "1",
    }
    command = [sys.executable, "-m", "follow_service", "finish"]
    with subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL) as process:  # noqa: S603 - ours
        try:
            yield process
        finally:
            process.send_signal(signal.SIGKILL)


def _patient(store: DynamoDbLocal) -> Any:
    """Connect, and wait for a store that has very much to do."""
    config = Config(read_timeout=60, retries={"total_max_attempts": 3})
    return boto3.client("dynamodb", endpoint_url=store.url, config=config)


def _count(store: DynamoDbLocal, table: str, name: str, value: str, index: str = "", *, pending: bool = False) -> int:
    """Count rows; pending: but requests that were accepted, of which a kill leaves one to expire."""
    pages = (
        store.client()
        .get_paginator("query")
        .paginate(
            TableName=table,
            **({"IndexName": index} if index else {"ConsistentRead": True}),
            Select="COUNT",
            **({"FilterExpression": "attribute_not_exists(accepted_at)"} if pending else {}),
            KeyConditionExpression="#name = :value",
            ExpressionAttributeNames={"#name": name},
            ExpressionAttributeValues={":value": _text(value)},
        )
    )
    return sum(page["Count"] for page in pages)


def _write(store: DynamoDbLocal, table: str, rows: Iterable[Row]) -> None:
    client = _patient(store)
    puts: Iterator[Any] = ({"PutRequest": {"Item": row}} for row in rows)
    while some := list(islice(puts, 25)):
        unwritten = client.batch_write_item(RequestItems={table: some})["UnprocessedItems"]
        if unwritten:
            raise RuntimeError(f"DynamoDB Local left rows of {table} unwritten")


def _name(n: int) -> str:
    return f"u-{n:07}"


def _text(text: str) -> Row:
    return {"S": text}


def _number(number: int) -> Row:
    return {"N": str(number)}


PROOFS = [finished]
