"""Whom somebody follows: the table followers, read by its follower."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from contracts.tables import FOLLOWERS
from murmuration_runtime.dynamo import errors_named, items

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


class DynamoFollows:
    """The table followers."""

    def __init__(self, dynamodb: "DynamoDBClient", table_prefix: str) -> None:
        self._dynamodb = dynamodb
        self._table = f"{table_prefix}{FOLLOWERS.name}"

    def check(self) -> None:
        """Raise StoreAwayError unless the table answers."""
        with errors_named():
            self._dynamodb.get_item(
                TableName=self._table, Key=_edge("-", "-"), ProjectionExpression=FOLLOWERS.followee_id
            )

    def followees(self, user_id: str, noted: Iterable[str] = ()) -> frozenset[str]:
        with errors_named():
            pages = self._dynamodb.get_paginator("query").paginate(
                TableName=self._table,
                IndexName=FOLLOWERS.by_follower,
                KeyConditionExpression="follower_id = :user",
                ProjectionExpression=FOLLOWERS.followee_id,
                ExpressionAttributeValues={":user": {"S": user_id}},
            )
            indexed = {item[FOLLOWERS.followee_id]["S"] for page in pages for item in page["Items"]}
        keys = [_edge(user_id, followee_id) for followee_id in noted]
        edges = items(self._dynamodb, self._table, keys, ProjectionExpression=FOLLOWERS.followee_id)
        return frozenset(indexed.difference(noted) | {edge[FOLLOWERS.followee_id]["S"] for edge in edges})


def _edge(follower_id: str, followee_id: str) -> Any:
    return {FOLLOWERS.followee_id: {"S": followee_id}, FOLLOWERS.follower_id: {"S": follower_id}}
