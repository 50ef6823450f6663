"""Dead letters: the watermark has passed them, so their users are recounted."""

import json
import os
import subprocess
import sys

import boto3
import pytest

from count_aggregator.topic import SERVICE, TOPIC
from murmuration_runtime.kafka_connection import KafkaSettings
from murmuration_worker.dead_letters import DeadLetters
from murmuration_worker.letters import open_letters
from murmuration_worker.messages import Message


@pytest.mark.stack
def test_one_command_handles_them_all(somebody):
    """An event that could not be decoded is missing in two counts; its headers say in whose."""
    dynamodb, prefix = boto3.client("dynamodb"), os.environ.get("TABLE_PREFIX", "")
    follower, followee = somebody(), somebody()
    key = {"user_id": {"S": followee}}
    with open_letters(KafkaSettings(), TOPIC, SERVICE) as letters:
        letters.settle(letters.open())
    add = {"UpdateExpression": "ADD followers_count :one", "ExpressionAttributeValues": {":one": {"N": "1"}}}
    dynamodb.update_item(TableName=f"{prefix}users", Key=key, **add)
    headers = [("followee_id", followee.encode()), ("follower_id", follower.encode())]
    DeadLetters(KafkaSettings(), SERVICE).send(TOPIC, Message(TOPIC.name, 3, 7, b"key", b"poison", headers), "poison")
    command = [sys.executable, "-m", "count_aggregator", "dead-letters", "handle", "--apart", "1"]
    for checked, drifted in ((2, 1), (0, 0)):
        run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)  # noqa: S603 - ours
        assert run.returncode == 0, run.stderr
        told = json.loads(run.stdout)
        assert (told["checked"], told["drifted"]) == (checked, drifted)
    item = dynamodb.get_item(TableName=f"{prefix}users", Key=key, ConsistentRead=True)["Item"]
    assert item["followers_count"] == {"N": "0"}
