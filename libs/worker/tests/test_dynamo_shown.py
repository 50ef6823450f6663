"""What the bridge says of the streams of tables, in its own."""

import pytest

from contracts.tables import LEASES
from murmuration_testkit.unkind_aws import UnkindAws
from murmuration_worker.dynamo_shown import DynamoShown

TABLES = {"FollowChanged": "followers", "MuteChanged": "mutes"}


@pytest.fixture
def dynamodb():
    return UnkindAws().client()


def say(dynamodb, table, stream, state="reading", **numbers):
    key = {LEASES.stream_arn: {"S": LEASES.streams_of(table)}, LEASES.shard_id: {"S": stream}}
    item = key | {LEASES.state: {"S": state}} | {name: {"N": str(number)} for name, number in numbers.items()}
    dynamodb.put_item(TableName=LEASES.name, Item=item)


def test_each_topic_is_as_far_as_the_stream_of_its_table_that_is_furthest_behind(dynamodb):
    """A stream that is read to its end holds nothing back; tip_at says nothing here."""
    say(dynamodb, "followers", "old", "ended", shown_until=1)
    say(dynamodb, "followers", "first", shown_until=7, tip_at=3)
    say(dynamodb, "followers", "second", "gap", shown_until=5, tip_at=9)
    say(dynamodb, "mutes", "only", shown_until=8)
    assert DynamoShown(dynamodb, "", TABLES).shown_until() == {"FollowChanged": 5, "MuteChanged": 8}


def test_what_no_bridge_says_is_unknown(dynamodb):
    """Of a table that it has not seen, and by a release that does not say it."""
    assert DynamoShown(dynamodb, "", TABLES).shown_until() == {"FollowChanged": 0, "MuteChanged": 0}
    say(dynamodb, "followers", "first", tip_at=9)
    assert DynamoShown(dynamodb, "", TABLES).shown_until()["FollowChanged"] == 0
