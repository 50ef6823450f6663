"""python -m tweet_service erase, as it is run."""

import json
import os
import random
import subprocess
import sys
import threading
import time

import pytest

from murmuration_runtime.dynamo import client, items
from murmuration_testkit.ports import free_port
from murmuration_testkit.probes import get
from tweet_service.dynamo_accounts import DynamoAccounts
from tweet_service.dynamo_tweets import DynamoTweets
from tweet_service.tweets import Tweet

from .written_accounts import WrittenAccounts

TABLE_PREFIX = os.environ.get("TABLE_PREFIX", "")


def start(*more, **environment):
    return subprocess.Popen(  # noqa: S603 - our own command
        [sys.executable, "-m", "tweet_service", "erase", *more],
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.stack
def test_two_at_once_and_once_more_and_the_account_is_erased(somebody):
    """Each row is marked once, and no text is left; who later finds nothing, takes the account off the list."""
    author, store = somebody(), DynamoTweets(client(), TABLE_PREFIX)
    first = random.randrange(10**18, 8 * 10**18)
    ids = [str(first + n) for n in range(120)]
    for tweet_id in ids:
        store.add(Tweet(tweet_id, author, "hello", 1))
    WrittenAccounts(client(), TABLE_PREFIX).delete(author, time.time_ns() // 1_000_000 - 5_000)
    settings = {"ERASURE_RATE": "1000", "ERASURE_SETTLED_SECONDS": "1"}
    for run in [start("--once", **settings) for _ in range(2)]:
        _, said = run.communicate(timeout=60)
        assert run.returncode == 0, said
    left = [*items(client(), f"{TABLE_PREFIX}tweets", [{"tweet_id": {"S": tweet_id}} for tweet_id in ids])]
    assert [{*row} for row in left] == [{"tweet_id", "author_id", "created_at", "deleted_at"}] * len(ids)
    run = start("--once", **settings)
    _, said = run.communicate(timeout=60)
    told = [json.loads(line) for line in said.splitlines()]
    assert author not in [due.author_id for due in DynamoAccounts(client(), TABLE_PREFIX).due()]
    assert [line["author_id"] for line in told if line["message"] == "account erased"].count(author) <= 1


def test_a_store_that_is_away_is_named_and_nothing_is_lost():
    """Exit 1, and what to do."""
    aws = {"AWS_DEFAULT_REGION": "eu-central-1", "AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local"}
    run = start("--once", AWS_ENDPOINT_URL_DYNAMODB="http://127.0.0.1:9", **aws)
    _, said = run.communicate(timeout=60)
    assert run.returncode == 1
    assert "127.0.0.1:9" in said
    assert "run it again" in said


@pytest.mark.parametrize("rate", ["0", "-1", "fast"])
def test_an_odd_rate_stops_the_start(rate):
    """And is named."""
    run = start("--once", ERASURE_RATE=rate)
    _, said = run.communicate(timeout=60)
    assert run.returncode == 1
    assert f"ERASURE_RATE is '{rate}': input should be" in said


def test_probes_are_answered_while_the_store_is_away():
    """The process lives, and says what it waits for."""
    port = free_port()
    aws = {"AWS_DEFAULT_REGION": "eu-central-1", "AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local"}
    run = start(ADMIN_PORT=str(port), HOST="127.0.0.1", AWS_ENDPOINT_URL_DYNAMODB="http://127.0.0.1:9", **aws)

    deadline = threading.Timer(30, run.kill)
    deadline.start()
    try:
        told, expected = set(), {"not ready", "erasure waits for the store"}
        while not expected <= told and (line := run.stderr.readline()):
            told.add(json.loads(line)["message"])
        assert expected <= told
        status, body = get(f"http://127.0.0.1:{port}/readyz")
        assert status == 503
        assert "127.0.0.1:9" in body
        run.terminate()
        run.communicate()
    finally:
        deadline.cancel()
        run.kill()
    assert run.returncode == 0
