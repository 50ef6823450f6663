"""Marks of work that is due, in the rows of accounts."""

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from murmuration_runtime.dynamo import retry_conflicts

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


def take_off(dynamodb: "DynamoDBClient", users: str, key: Any, change: str, condition: str, at: int) -> None:
    """Take a mark away if the condition holds, in which :at is this time."""
    with suppress(dynamodb.exceptions.ConditionalCheckFailedException):
        retry_conflicts(
            lambda: dynamodb.update_item(
                TableName=users,
                Key=key,
                UpdateExpression=f"{change} ADD version :one",
                ConditionExpression=condition,
                ExpressionAttributeValues={":at": {"N": str(at)}, ":one": {"N": "1"}},
            )
        )
