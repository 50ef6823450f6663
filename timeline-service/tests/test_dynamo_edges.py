"""Whom somebody reads now, by the rows of the pairs."""

import pytest

from murmuration_runtime.dynamo import BATCH
from murmuration_testkit.unkind_aws import UnkindAws
from timeline_service.dynamo_edges import DynamoEdges


@pytest.fixture
def aws():
    return UnkindAws()


def test_whom_one_reads_are_those_whom_one_follows_and_has_not_muted(aws):
    """By the rows of these pairs, in the one direction; two hundred rows take two calls."""
    dynamodb = aws.client()
    for followee, follower in (("bob", "alice"), ("carol", "alice"), ("alice", "dave")):
        item = {"followee_id": {"S": followee}, "follower_id": {"S": follower}, "followed_at": {"N": "1"}}
        dynamodb.put_item(TableName="followers", Item=item)
    for muter, muted in (("alice", "carol"), ("bob", "alice")):
        item = {"muter_id": {"S": muter}, "muted_id": {"S": muted}, "muted_at": {"N": "1"}}
        dynamodb.put_item(TableName="mutes", Item=item)
    edges = DynamoEdges(dynamodb, "")
    assert edges.read_by("alice", ["bob", "carol", "dave"]) == {"bob"}
    assert edges.read_by("alice", []) == set()
    before = _calls(aws)
    assert edges.read_by("alice", ["bob", *map(str, range(BATCH - 1))]) == {"bob"}
    assert _calls(aws) - before == 2


def _calls(aws):
    return sum(count for (operation, _), count in aws.calls.items() if operation == "BatchGetItem")
