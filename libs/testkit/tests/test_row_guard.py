"""The guard sees what a service does to a table, and lets a test do what it likes."""

import json
import re

import pytest

from murmuration_runtime import dynamo
from murmuration_runtime.dynamo_wire import Answer
from murmuration_testkit import row_guard

ROW = {"tweet_id": {"S": "1"}, "text": {"S": "hello"}}
USER = {"Key": {"user_id": {"S": "alice"}}}
VALUE = {"ExpressionAttributeValues": {":v": {"N": "1"}, ":two": {"N": "2"}}}
CODE = "def ask(client, operation, look, request): look(getattr(client, operation)(**request))"


@pytest.fixture(autouse=True)
def _somewhere(monkeypatch):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_DEFAULT_REGION"):
        monkeypatch.setenv(name, "test")


def violations(service, operation, request, answer=None, look=lambda _: None, path="/app/rows.py"):
    """Return what the guard has against a service that asks this, gets this answer and looks at it in this way."""
    kind = "dynamodbstreams" if "StreamArn" in request else "dynamodb"
    client = dynamo.client() if kind == "dynamodb" else dynamo.streams_client(attempts=1)
    client.meta.events.register("before-send", lambda **_: Answer(200, json.dumps(answer or {}).encode()))
    module = {"__name__": f"{service.replace('-', '_')}.rows"}
    exec(compile(CODE, path, "exec"), module)  # noqa: S102  the guard goes by the names of modules and files
    module["ask"](client, operation, look, request)
    found = [*row_guard.violations]
    row_guard.violations.clear()
    return found


def update(expression, raising=" ADD version :v", **more):
    updating = {"TableName": "test-users", "UpdateExpression": f"{expression}{raising}", **USER, **VALUE}
    return "update_item", {**updating, **more}


@pytest.mark.parametrize(
    ("service", "asked"),
    [
        ("follow-service", ("get_item", {"TableName": "test-users", **USER})),
        ("fanout-worker", ("get_item", {"TableName": "users", **USER, "ProjectionExpression": "followers_count"})),
        ("tweet-service", update("REMOVE erasure", ConditionExpression="deleted_at = :v")),
        ("follow-service", update("SET created_at = if_not_exists(created_at, :v), display_name = :v")),
        ("cdc-bridge", ("scan", {"TableName": "a-table-of-the-test"})),
        ("cdc-bridge", ("describe_stream", {"StreamArn": "arn:aws:dynamodb:x:1:table/test-tweets/stream/2026-01"})),
    ],
)
def test_what_the_files_give_a_service_is_free(service, asked):
    """Whatever the prefix of the tables."""
    assert violations(service, *asked) == []


@pytest.mark.parametrize(
    ("service", "asked", "found"),
    [
        ("cdc-bridge", ("get_item", {"TableName": "users", **USER}), "GetItem on table, and tables/users.yaml"),
        ("tweet-service", ("scan", {"TableName": "users", "IndexName": "by_celebrity"}), "Scan on by_celebrity"),
        (
            "tweet-service",
            ("describe_stream", {"StreamArn": "arn:aws:dynamodb:x:1:table/tweets/stream/1"}),
            "on stream",
        ),
        ("tweet-service", update("REMOVE erasure, display_name"), "display_name.* written_by"),
        ("follow-service", update("SET display_name = celebrity_until"), "celebrity_until.* read_by"),
        (
            "count-aggregator",
            update("ADD following_count :v, version :v SET is_private = :v", ""),
            "is_private.* written_by",
        ),
        (
            "count-aggregator",
            update("ADD following_count :v, #x :v, version :v", "", ExpressionAttributeNames={"#x": "erasure"}),
            "erasure.* written_by",
        ),
        (
            "count-aggregator",
            (
                "transact_write_items",
                {"TransactItems": [{"Update": update("SET followers_count = :v, erasure = :v")[1]}]},
            ),
            "erasure.* written_by",
        ),
        ("tweet-service", update("REMOVE erasure", ""), "updates users and does not ADD 1 to version"),
        ("count-aggregator", update("ADD followers_count :v, version :two", ""), "does not ADD 1 to version"),
        ("tweet-service", update("REMOVE erasure SET version = :v", ""), "does not ADD 1 to version"),
        (
            "count-aggregator",
            ("transact_write_items", {"TransactItems": [{"Update": update("ADD followers_count :v", "")[1]}]}),
            "does not ADD 1 to version",
        ),
        (
            "tweet-service",
            ("put_item", {"TableName": "tweets", "Item": {"tweet_id": {"S": "1"}, "colour": {"S": "red"}}}),
            "colour.* written_by",
        ),
        (
            "fanout-worker",
            ("get_item", {"TableName": "users", **USER, "ProjectionExpression": "celebrity_since, is_private"}),
            "is_private.* read_by",
        ),
        (
            "timeline-service",
            (
                "query",
                {
                    "TableName": "followers",
                    "IndexName": "by_follower",
                    "KeyConditionExpression": "follower_id = :v AND followed_at < :v",
                    **VALUE,
                },
            ),
            "followed_at.* read_by",
        ),
    ],
)
def test_what_they_do_not_give_is_found(service, asked, found):
    """Tables, actions, indexes, streams, attributes that are written, and attributes that an expression reads."""
    (told,) = violations(service, *asked)
    assert re.match(f"{service} .*{found}", told)


@pytest.mark.parametrize(
    ("operation", "request_", "answer", "look"),
    [
        (
            "get_item",
            {"TableName": "tweets", "Key": {"tweet_id": {"S": "1"}}},
            {"Item": ROW},
            "lambda it: it['Item']['text']",
        ),
        (
            "query",
            {"TableName": "tweets", "IndexName": "by_author"},
            {"Items": [ROW]},
            "lambda it: it['Items'][0].get('text')",
        ),
        (
            "batch_get_item",
            {"RequestItems": {"tweets": {"Keys": [{"tweet_id": {"S": "1"}}]}}},
            {"Responses": {"tweets": [ROW]}},
            "lambda it: 'text' in it['Responses']['tweets'][0]",
        ),
    ],
)
def test_a_row_that_came_is_watched(operation, request_, answer, look):
    """What a tweet says is no business of fanout-worker's."""
    look = eval(look, {"__name__": "fanout_worker.rows"})  # noqa: S307
    told = violations("fanout-worker", operation, request_, answer, look)
    assert "fanout-worker uses text, and tables/tweets.yaml does not name it read_by" in told


def test_what_a_test_does_is_free():
    """It stands in for other services, and looks at what they wrote, also when a service calls it."""
    asked = update("SET colour = :v")
    assert violations("conftest", *asked) == []
    assert violations("cdc-bridge", *asked, path="/app/cdc-bridge/tests/rows.py") == []
