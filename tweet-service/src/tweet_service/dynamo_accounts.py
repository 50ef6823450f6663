"""Accounts in DynamoDB: follow-service's tables users and followers, as tweets need them."""

from collections.abc import Collection, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from contracts.profiles import PROJECTION, read_profile
from contracts.tables import FOLLOWERS, USERS
from murmuration_runtime.dynamo import errors_named, items
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

    def authors(self, user_ids: Collection[str]) -> Mapping[str, Author]:
        keys = [{USERS.user_id: {"S": user_id}} for user_id in user_ids]
        found = items(self._dynamodb, self._users, keys, ProjectionExpression=PROJECTION)
        return dict.fromkeys(user_ids, Author()) | {item[USERS.user_id]["S"]: _author(item) for item in found}

    def follows(self, follower_id: str, followee_id: str) -> bool:
        with errors_named():
            return "Item" in self._dynamodb.get_item(
                TableName=self._followers,
                Key=_edge(follower_id, followee_id),
                ProjectionExpression=FOLLOWERS.followee_id,
                ConsistentRead=True,
            )

    def followees_among(self, follower_id: str, user_ids: Collection[str]) -> set[str]:
        keys = [_edge(follower_id, user_id) for user_id in user_ids]
        edges = items(self._dynamodb, self._followers, keys, ProjectionExpression=FOLLOWERS.followee_id)
        return {edge[FOLLOWERS.followee_id]["S"] for edge in edges}

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


def _edge(follower_id: str, followee_id: str) -> Any:
    return {FOLLOWERS.followee_id: {"S": followee_id}, FOLLOWERS.follower_id: {"S": follower_id}}


def _author(item: Any) -> Author:
    private = item.get(USERS.is_private, {}).get("BOOL", False)
    return Author(is_private=private, deleted=USERS.deleted_at in item, profile=read_profile(item))
