"""The proxy before DynamoDB: answers are the store's own, and who asked for what is noted."""

import os

import boto3
import pytest

from murmuration_testkit.iam import asks
from murmuration_testkit.ports import free_port
from murmuration_testkit.recording_proxy import recording

pytestmark = pytest.mark.stack
ASKED = {"TableName": "users", "Key": {"user_id": {"S": "nobody"}}, "ProjectionExpression": "is_private"}


def test_it_notes_each_service_by_its_access_key():
    """A key that no service has is a stranger's; what comes before a request is told first."""
    port, told = free_port(), []
    with recording(port, int(os.environ["DYNAMODB_PORT"]), lambda *asked: told.append(asked)) as proxy:

        def client(key):
            url = f"http://127.0.0.1:{port}"
            return boto3.client("dynamodb", endpoint_url=url, aws_access_key_id=key, aws_secret_access_key="x")

        assert "Item" not in client("tweetservice").get_item(**ASKED)
        assert client("stranger").list_tables(ExclusiveStartTableName="user", Limit=1)["TableNames"] == ["users"]
        with pytest.raises(client("x").exceptions.ResourceNotFoundException):
            client("tweetservice").describe_table(TableName="no-such-table")
    assert proxy.asked == {"tweet-service": {*asks("GetItem", ASKED)}}
    assert proxy.strangers == {"stranger"}
    assert [(service, operation) for service, operation, _ in told] == [
        ("tweet-service", "GetItem"),
        ("tweet-service", "DescribeTable"),
    ]
