"""tables.py against DynamoDB, each test under a table prefix of its own."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import boto3
import pytest
import yaml

from contracts.table_files import load
from contracts.tables import FOLLOWERS, TABLES
from contracts.topic import DATA

COMMAND = [sys.executable, str(Path(__file__).parents[1] / "tables.py")]


@pytest.fixture
def prefix(own_dynamodb: None) -> Iterator[str]:
    """Give a prefix, and delete what was made under it."""
    del own_dynamodb
    prefix = f"test-{uuid4().hex[:8]}-"
    yield prefix
    for name in tables(prefix):
        boto3.client("dynamodb").delete_table(TableName=prefix + name)


def tables(prefix: str) -> set[str]:
    pages = boto3.client("dynamodb").get_paginator("list_tables").paginate()
    return {name.removeprefix(prefix) for page in pages for name in page["TableNames"] if name.startswith(prefix)}


def start(prefix: str, *words: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "TABLE_PREFIX": prefix}
    return subprocess.Popen(
        [*COMMAND, *words], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


@pytest.mark.stack(shared=False)
def test_two_at_once_and_one_after_them_all_succeed(prefix):
    """A Helm hook that is retried, or run by two people, finds or makes the same tables."""
    missing = start(prefix, "expand", "--dry-run")
    assert "table users: expand creates it" in missing.communicate()[0]
    assert (missing.returncode, tables(prefix)) == (1, set())
    for run in [start(prefix), start(prefix)]:
        assert run.communicate()[1] == ""
        assert run.returncode == 0
    assert tables(prefix) == set(TABLES)
    expiry = boto3.client("dynamodb").describe_time_to_live(TableName=prefix + "ledgers")["TimeToLiveDescription"]
    assert expiry == {"TimeToLiveStatus": "ENABLED", "AttributeName": "expires_at"}
    again = start(prefix)
    assert "created" not in again.communicate()[0]
    assert again.returncode == 0
    whole = start(prefix, "expand", "--dry-run")
    assert "creates" not in whole.communicate()[0]
    assert whole.returncode == 0
    told = start(prefix, "plan").communicate()[0]
    assert "table users: as its file says" in told
    assert "migration spread-leases, expand 20" in told
    assert start(prefix, "switch", "no-such").communicate()[1].startswith("tables.py: there is no migration 'no-such'")


@pytest.mark.stack(shared=False)
def test_tables_that_a_stack_made_are_left_as_they_are(prefix):
    """deploy/aws/tables.yaml has them; expand only records itself in each migration, whose other steps stay due."""
    dynamodb = boto3.client("dynamodb")
    template = yaml.safe_load((Path(__file__).parents[1] / "aws/tables.yaml").read_text())
    for resource in template["Resources"].values():
        made = resource["Properties"]
        made["TableName"] = prefix + made["TableName"]["Fn::Sub"].removeprefix("${TablePrefix}")
        if "StreamSpecification" in made:
            made["StreamSpecification"]["StreamEnabled"] = True
        expires = made.pop("TimeToLiveSpecification", None)
        del made["PointInTimeRecoverySpecification"], made["SSESpecification"]  # which CreateTable calls otherwise
        dynamodb.create_table(**made)
        if expires:
            dynamodb.update_time_to_live(TableName=made["TableName"], TimeToLiveSpecification=expires)
    before = {name: dynamodb.describe_table(TableName=prefix + name)["Table"] for name in TABLES}
    run = start(prefix)
    said, complaint = run.communicate()
    after = {name: dynamodb.describe_table(TableName=prefix + name)["Table"] for name in TABLES}
    for name in TABLES:
        dynamodb.update_table(TableName=prefix + name, DeletionProtectionEnabled=False)
    assert (run.returncode, complaint) == (0, "")
    assert "created" not in said
    assert "gets" not in said
    steady = ("CreationDateTime", "DeletionProtectionEnabled", "LatestStreamArn")
    assert [[after[it].get(key) for key in steady] for it in TABLES] == [
        [before[it].get(key) for key in steady] for it in TABLES
    ]
    assert "next: `python deploy/tables.py switch spread-leases`" in start(prefix, "status").communicate()[0]


@pytest.mark.stack(shared=False)
def test_streams_carry_both_images_of_the_tables_that_have_one(prefix):
    """The bridge needs old and new image; without the old a removal would be anonymous."""
    start(prefix).communicate()
    streams = {
        name: boto3.client("dynamodb").describe_table(TableName=prefix + name)["Table"].get("StreamSpecification")
        for name in TABLES
    }
    both = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
    assert streams == {name: both if file.stream else None for name, file in load(DATA).items()}


@pytest.mark.stack(shared=False)
def test_a_table_that_differs_is_named_with_what_differs_and_left_alone(prefix):
    """Nothing is repaired behind anybody's back."""
    boto3.client("dynamodb").create_table(
        TableName=f"{prefix}tweets",
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "N"}],
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"},
    )
    run = start(prefix)
    _, complaint = run.communicate()
    assert run.returncode == 1
    assert f"table {prefix}tweets differs from schemas/tables" in complaint
    assert "key should be tweet_id S HASH, is id N HASH" in complaint
    assert "stream should be NEW_AND_OLD_IMAGES, is KEYS_ONLY" in complaint


@pytest.mark.stack(shared=False)
def test_an_index_that_a_table_lacks_is_added_and_the_rows_stay(prefix):
    """As an upgrade brings them, several at once; an index that differs is left alone, and named."""
    dynamodb, table = boto3.client("dynamodb"), f"{prefix}followers"
    start(prefix).communicate()
    dynamodb.delete_table(TableName=table)
    key = [{"AttributeName": "followee_id", "KeyType": "HASH"}, {"AttributeName": "follower_id", "KeyType": "RANGE"}]
    old = {
        "TableName": table,
        "BillingMode": "PAY_PER_REQUEST",
        "KeySchema": key,
        "AttributeDefinitions": [{"AttributeName": each["AttributeName"], "AttributeType": "S"} for each in key],
        "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
    }
    stream = dynamodb.create_table(**old)["TableDescription"]["LatestStreamArn"]
    part = FOLLOWERS.part_of("bob", "alice")
    row = {"followee_id": {"S": "bob"}, "follower_id": {"S": "alice"}, "followed_at": {"N": "1"}, "part": {"S": part}}
    dynamodb.put_item(TableName=table, Item=row)
    for run in [start(prefix), start(prefix)]:
        assert run.communicate()[1] == ""
        assert run.returncode == 0
    for index, name, value in (("by_part", "part", part), ("by_follower", "follower_id", "alice")):
        query = {"KeyConditionExpression": f"{name} = :v", "ExpressionAttributeValues": {":v": {"S": value}}}
        assert dynamodb.query(TableName=table, IndexName=index, **query)["Items"] == [row]
    assert dynamodb.describe_table(TableName=table)["Table"]["LatestStreamArn"] == stream
    dynamodb.delete_table(TableName=table)
    turned = [{"AttributeName": "follower_id", "KeyType": "HASH"}, {"AttributeName": "followee_id", "KeyType": "RANGE"}]
    wrong = [{"IndexName": "by_part", "KeySchema": turned, "Projection": {"ProjectionType": "ALL"}}]
    dynamodb.create_table(**old, GlobalSecondaryIndexes=wrong)
    _, complaint = (run := start(prefix)).communicate()
    assert run.returncode == 1
    assert "index by_part key should be part S HASH, followed_at N RANGE, is follower_id S HASH" in complaint
    assert len(dynamodb.describe_table(TableName=table)["Table"]["GlobalSecondaryIndexes"]) == 1


def test_a_store_that_is_away_is_waited_for_aloud_and_not_for_ever():
    """Port 9 answers nobody."""
    aws = {"AWS_DEFAULT_REGION": "eu-central-1", "AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local"}
    environment = {**os.environ, **aws, "AWS_ENDPOINT_URL_DYNAMODB": "http://127.0.0.1:9"}
    run = subprocess.run([*COMMAND, "--wait", "1"], env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert "waiting for DynamoDB" in run.stdout
    assert "http://127.0.0.1:9" in run.stderr
