"""What DynamoDB throttles is counted by table and index, whoever asks and whoever tries again."""

import json
import re
from pathlib import Path

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError
from hypothesis import given
from hypothesis import strategies as st

from murmuration_runtime import dynamo
from murmuration_runtime.dynamo_wire import Answer
from murmuration_runtime.throttling import THROTTLED, count_throttling, throttled

KEY = {"k": {"S": "a"}}
GET = ("get_item", {"TableName": "t", "Key": KEY})
QUERY = (
    "query",
    {
        "TableName": "t",
        "IndexName": "by_x",
        "KeyConditionExpression": "x = :x",
        "ExpressionAttributeValues": {":x": {"S": "x"}},
    },
)
PUT = {"Put": {"TableName": "t", "Item": KEY}}
TRANSACT = ("transact_write_items", {"TransactItems": [PUT, {"Put": {"TableName": "u", "Item": KEY}}, PUT]})
BATCH = ("batch_get_item", {"RequestItems": {"t": {"Keys": [KEY]}, "u": {"Keys": [KEY]}}})


@pytest.fixture(autouse=True)
def _nothing_counted(monkeypatch):
    THROTTLED.clear()
    for name, value in {
        "AWS_DEFAULT_REGION": "eu-west-1",
        "AWS_ACCESS_KEY_ID": "a",
        "AWS_SECRET_ACCESS_KEY": "b",
    }.items():
        monkeypatch.setenv(name, value)


def counted():
    return {
        tuple(sample.labels.values()): sample.value
        for metric in THROTTLED.collect()
        for sample in metric.samples
        if sample.name.endswith("_total")
    }


def answering(client, *answers):
    """Have a client answered as DynamoDB would: the status and the body of each try."""
    left = list(answers)

    def answer(**_):
        status, body = left.pop(0)
        return Answer(status, json.dumps(body).encode())

    client.meta.events.register("before-send", answer)
    return client


def no(code, **more):
    return 400, {"__type": f"com.amazonaws.dynamodb.v20120810#{code}", **more}


@pytest.mark.parametrize(
    ("asked", "code", "places"),
    [
        (GET, "ProvisionedThroughputExceededException", {("t", "", "ProvisionedThroughputExceeded"): 1}),
        (GET, "ThrottlingException", {("t", "", "Throttling"): 1}),
        (GET, "RequestLimitExceeded", {("t", "", "RequestLimitExceeded"): 1}),
        (GET, "TransactionConflictException", {("t", "", "TransactionConflict"): 1}),
        (QUERY, "ProvisionedThroughputExceededException", {("t", "by_x", "ProvisionedThroughputExceeded"): 1}),
        (BATCH, "ThrottlingException", {("t", "", "Throttling"): 1, ("u", "", "Throttling"): 1}),
        (GET, "ConditionalCheckFailedException", {}),
    ],
)
def test_a_refusal_is_counted_by_table_and_index(asked, code, places):
    """And nothing else is."""
    operation, request = asked
    with pytest.raises(ClientError):
        getattr(answering(dynamo.client(attempts=1), no(code)), operation)(**request)
    assert counted() == places


def test_tries_that_botocore_hides_are_counted():
    """Two refusals and an answer: the caller sees the answer alone."""
    refusal = no("ProvisionedThroughputExceededException")
    answering(dynamo.client(attempts=3), refusal, refusal, (200, {})).get_item(**GET[1])
    assert counted() == {("t", "", "ProvisionedThroughputExceeded"): 2}


def test_no_service_makes_a_client_that_does_not_count():
    """Only murmuration_runtime.dynamo makes clients."""
    repository = Path(__file__).parents[3]
    sources = [*repository.glob("*/src/**/*.py"), *repository.glob("libs/runtime/src/**/*.py")]
    making = re.compile(r"boto3.*\.(client|resource)\(|create_client\(")
    made = [(path.name, line) for path in sources for line in path.read_text().splitlines() if making.search(line)]
    assert [(name, "count_throttling(" in line) for name, line in made] == [("dynamo.py", True)]


def test_of_a_cancelled_transaction_each_item_is_counted():
    """By its own table; what was not at fault is not."""
    reasons = [{"Code": code} for code in ("TransactionConflict", "ThrottlingError", "None")]
    client = answering(
        dynamo.client(attempts=1), no("TransactionCanceledException", Message="m", CancellationReasons=reasons)
    )
    with pytest.raises(client.exceptions.TransactionCanceledException):
        client.transact_write_items(**TRANSACT[1])
    assert counted() == {("t", "", "TransactionConflict"): 1, ("u", "", "Throttling"): 1}


def test_the_index_that_holds_up_a_write_is_named():
    """DynamoDB says which: a write to the table is throttled by its index."""
    resource = "arn:aws:dynamodb:eu-west-1:1:table/t/index/by_y"
    why = [{"reason": "IndexWriteProvisionedThroughputExceeded", "resource": resource}]
    for code, name in (
        ("ProvisionedThroughputExceededException", "ThrottlingReasons"),
        ("ThrottlingException", "throttlingReasons"),
    ):
        client = answering(dynamo.client(attempts=1), no(code, **{name: why}))
        with pytest.raises(ClientError):
            client.put_item(TableName="t", Item=KEY)
    assert counted() == {("t", "by_y", "ProvisionedThroughputExceeded"): 1, ("t", "by_y", "Throttling"): 1}


def test_keys_that_a_batch_leaves_are_counted():
    """It is answered with status 200."""
    left = (200, {"Responses": {}, "UnprocessedKeys": {"u": {"Keys": [KEY]}}})
    answering(dynamo.client(), left).batch_get_item(**BATCH[1])
    assert counted() == {("u", "", "Unprocessed"): 1}


def test_a_stream_is_counted_under_its_table():
    """Its iterators and its ARN name the table."""
    streams = boto3.client("dynamodbstreams", config=Config(retries={"total_max_attempts": 1}))
    arn = "arn:aws:dynamodb:eu-west-1:1:table/t/stream/2026-01-01T00:00:00.000"
    refusal = no("LimitExceededException")
    answering(count_throttling(streams), refusal, refusal)
    with pytest.raises(ClientError):
        streams.describe_stream(StreamArn=arn)
    with pytest.raises(ClientError):
        streams.get_records(ShardIterator=f"{arn}|1|AAAA")
    assert counted() == {("t", "", "LimitExceeded"): 2}


@given(st.lists(st.sampled_from([None, "None", "ConditionalCheckFailed", "TransactionConflict"])))
def test_a_transaction_that_is_not_throttled_is_told_apart(codes):
    """A conflict is no lack of capacity."""
    assert not throttled(codes)
    assert all(throttled([*codes, why]) for why in ("ThrottlingError", "ProvisionedThroughputExceeded"))
