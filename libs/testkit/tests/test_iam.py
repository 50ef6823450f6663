"""What IAM would say of a request, by the template that is deployed."""

import pytest

from murmuration_testkit.iam import FILES, TABLES_JOB, asks, policies, refusal, unused

ME = {"Key": {"user_id": {"S": "alice"}}}
USERS = {"TableName": "prod-users", **ME}


def refused(service, operation, request):
    return [text for ask in asks(operation, request) if (text := refusal(service, ask))]


def update(expression, **more):
    return "UpdateItem", {**USERS, "UpdateExpression": expression, **more}


@pytest.mark.parametrize(
    ("service", "operation", "request_"),
    [
        ("follow-service", *update("SET display_name = :n", ReturnValues="ALL_OLD")),
        ("follow-service", "GetItem", USERS),
        ("count-aggregator", *update("ADD followers_count :n, following_count :n")),
        ("tweet-service", *update("REMOVE erasure", ConditionExpression="deleted_at = :at")),
        ("fanout-worker", "GetItem", {**USERS, "ProjectionExpression": "followers_count"}),
        ("cdc-bridge", "GetRecords", {"ShardIterator": "000|arn:aws:dynamodb:x:1:table/prod-tweets/stream/2026|…"}),
        ("cdc-bridge", "Scan", {"TableName": "followers", "Select": "COUNT"}),
        ("timeline-service", "Scan", {"TableName": "users", "IndexName": "by_celebrity"}),
        ("anybody", "Scan", {"TableName": "a-table-of-the-test"}),
    ],
)
def test_what_a_service_does_is_allowed(service, operation, request_):
    """Whatever the prefix of the tables; tables that no file describes are nobody's business."""
    assert refused(service, operation, request_) == []


@pytest.mark.parametrize(
    ("service", "operation", "request_", "says"),
    [
        ("follow-service", *update("SET followers_count = :n"), "followers_count"),
        (
            "follow-service",
            *update("SET #c = :n", ExpressionAttributeNames={"#c": "followers_count"}),
            "followers_count",
        ),
        (
            "follow-service",
            *update("SET is_private = :p", ConditionExpression="followers_count = :n"),
            "followers_count",
        ),
        ("follow-service", "PutItem", {"TableName": "users", "Item": {"user_id": {"S": "a"}}}, "dynamodb:PutItem"),
        ("follow-service", "DeleteItem", USERS, "dynamodb:DeleteItem"),
        ("tweet-service", "GetItem", USERS, "ALL_ATTRIBUTES"),
        ("tweet-service", "GetItem", {**USERS, "ProjectionExpression": "celebrity_since"}, "celebrity_since"),
        ("tweet-service", *update("REMOVE erasure", ReturnValues="ALL_OLD"), "ALL_OLD"),
        ("fanout-worker", "Query", {"TableName": "tweets", "IndexName": "by_author"}, "ALL_PROJECTED_ATTRIBUTES"),
        ("tweet-service", "GetShardIterator", {"StreamArn": "arn:x:table/tweets/stream/1"}, "tweets/stream"),
        ("count-aggregator", "BatchGetItem", {"RequestItems": {"users": {"Keys": [ME["Key"]]}}}, "BatchGetItem"),
    ],
)
def test_what_it_must_not_do_is_refused(service, operation, request_, says):
    """By what it does, to what, and what it names, answers or checks."""
    (text,) = refused(service, operation, request_)
    assert says in text


def test_each_action_of_a_transaction_is_asked_for():
    """IAM knows no TransactWriteItems."""
    key = {"partition_id": {"S": "p"}, "shard_id": {"S": "s"}}
    write = {"TableName": "ledgers", "Key": key, "UpdateExpression": "SET gaps = :g"}
    request = {
        "TransactItems": [
            {"Update": write},
            {"Delete": {"TableName": "ledgers", "Key": key}},
            {
                "ConditionCheck": {
                    "TableName": "users",
                    "Key": ME["Key"],
                    "ConditionExpression": "attribute_exists(user_id)",
                }
            },
        ]
    }
    told = refused("count-aggregator", "TransactWriteItems", request)
    assert [text.split(" on ")[0] for text in told] == [
        "count-aggregator asks for dynamodb:DeleteItem",
        "count-aggregator asks for dynamodb:ConditionCheckItem",
    ]


def test_a_right_that_nobody_used_is_named():
    """Actions on each table and index, and attributes, but for the keys, which a condition must have."""
    everything = len(unused({}))
    asked = {"follow-service": set(asks(*update("SET display_name = :n")))}
    left = unused(asked)
    assert everything - len(left) == 2
    assert "follow-service may name is_private in dynamodb:UpdateItem on table/users, and never did" in left
    mine = [text for text in left if text.startswith("follow-service")]
    assert not [text for text in mine if "name display_name" in text or "name user_id" in text]


def test_every_service_with_rows_has_a_policy():
    """And nobody may do everything, or something everywhere."""
    for statements in policies().values():
        for statement in statements:
            assert not [each for each in (*statement.actions, *statement.resources) if each.endswith(("table/*", ":*"))]


def test_only_owners_put_or_delete_rows():
    """Both replace what others wrote; count-aggregator settles recounts in the bridge's table."""
    replaced = {
        (service, FILES[resource.rpartition("/")[2]].owner, action.partition(":")[2])
        for service, statements in policies().items()
        for statement in statements
        for resource in statement.resources
        for action in {*statement.actions} & {"dynamodb:DeleteItem", "dynamodb:PutItem"}
        if service != TABLES_JOB
    }
    assert {each for each in replaced if each[0] != each[1]} == {("count-aggregator", "cdc-bridge", "DeleteItem")}
