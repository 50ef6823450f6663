"""Dead letters are settled: the watermark has passed them, so their users are recounted."""

import json
import os
import subprocess
import sys

import boto3
import pytest

from contracts import TOPICS
from count_aggregator.dead_letters import KafkaDeadLetters, unsettled

from .memory import Letter

TOPIC = TOPICS["FollowChanged"]


@pytest.fixture
def server():
    return os.environ["KAFKA_BOOTSTRAP_SERVERS"]


def bury(server, *headers):
    KafkaDeadLetters(server, TOPIC).bury(Letter(b"poison", headers=[*headers]), "poison")


def read(server):
    with unsettled(server, TOPIC) as letters:
        return list(letters.read())


@pytest.mark.stack
def test_letters_are_read_until_they_are_settled(server, somebody):
    """A run that failed leaves them for the next; who settled them reads only what came since."""
    first, second = somebody(), somebody()
    with unsettled(server, TOPIC) as letters:
        list(letters.read())
        letters.settle()
    bury(server, ("followee_id", first.encode()), ("follower_id", second.encode()))
    bury(server, ("followee_id", first.encode()))
    assert read(server) == read(server) == [(first, second), (first, None)]
    with unsettled(server, TOPIC) as letters:
        list(letters.read())
        letters.settle()
    assert read(server) == []


@pytest.mark.stack
def test_one_command_settles_them_all(server, somebody):
    """An event that could not be decoded is missing in two counts; its headers say in whose."""
    dynamodb, prefix = boto3.client("dynamodb"), os.environ.get("TABLE_PREFIX", "")
    follower, followee = somebody(), somebody()
    key = {"user_id": {"S": followee}}
    with unsettled(server, TOPIC) as letters:
        list(letters.read())
        letters.settle()
    add = {"UpdateExpression": "ADD followers_count :one", "ExpressionAttributeValues": {":one": {"N": "1"}}}
    dynamodb.update_item(TableName=f"{prefix}users", Key=key, **add)
    bury(server, ("followee_id", followee.encode()), ("follower_id", follower.encode()))
    command = [sys.executable, "-m", "count_aggregator", "dead-letters"]
    for drifted in (1, 0):
        run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)  # noqa: S603 - ours
        assert run.returncode == 0, run.stderr
        assert json.loads(run.stdout)["drifted"] == drifted
    assert read(server) == []
    item = dynamodb.get_item(TableName=f"{prefix}users", Key=key, ConsistentRead=True)["Item"]
    assert item["followers_count"] == {"N": "0"}
