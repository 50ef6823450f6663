"""Accounts in DynamoDB: follow-service's tables users and followers, as tweets need them."""

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from contracts.profiles import PROJECTION, read_profile
from contracts.tables import FOLLOWERS, USERS
from murmuration_runtime.dynamo import errors_named
from tweet_service.audience import Author
from tweet_service.erasure import Due

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


class DynamoAccounts:
    """Reads accounts and follows; all it ever writes is that an account's tweets are gone."""

    def __init__(self, dynamodb: "DynamoDBClient", table_prefix: str) -> None:
        self._dynamodb = dynamodb
        self._users = f"{table_prefix}{USERS.name}"
        self._followers = f"{table_prefix}{FOLLOWERS.name}"

    def author(self, user_id: str) -> Author:
        with errors_named():
            return _author(
                self._dynamodb.get_item(
                    TableName=self._users,
                    Key={USERS.user_id: {"S": user_id}},
                    ProjectionExpression=PROJECTION,
                    ConsistentRead=True,
                ).get("Item", {})
            )

    def follows(self, follower_id: str, followee_id: str) -> bool:
        key: Any = {FOLLOWERS.followee_id: {"S": followee_id}, FOLLOWERS.follower_id: {"S": follower_id}}
        with errors_named():
            return "Item" in self._dynamodb.get_item(
                TableName=self._followers, Key=key, ProjectionExpression=FOLLOWERS.followee_id, ConsistentRead=True
            )

    def due(self) -> list[Due]:
        pages = self._dynamodb.get_paginator("query").paginate(
            TableName=self._users,
            IndexName=USERS.by_erasure,
            KeyConditionExpression="erasure = :due",
            ExpressionAttributeValues={":due": {"S": USERS.DUE}},
        )
        with errors_named():
            return [
                Due(item[USERS.user_id]["S"], int(item[USERS.deleted_at]["N"]))
                for page in pages
                for item in page["Items"]
            ]

    def erased(self, due: Due) -> None:
        """If a transaction holds the account's item, it stays on the list, and is looked at again."""
        refusals = self._dynamodb.exceptions
        with errors_named(), suppress(refusals.ConditionalCheckFailedException, refusals.TransactionConflictException):
            self._dynamodb.update_item(
                TableName=self._users,
                Key={USERS.user_id: {"S": due.author_id}},
                UpdateExpression="REMOVE erasure",
                ConditionExpression="deleted_at = :at",
                ExpressionAttributeValues={":at": {"N": str(due.deleted_at)}},
            )


def _author(item: Any) -> Author:
    private = item.get(USERS.is_private, {}).get("BOOL", False)
    return Author(is_private=private, deleted=USERS.deleted_at in item, profile=read_profile(item))
