"""Who follows whom: the table followers, read by its followee."""

from collections.abc import Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from contracts.tables import FOLLOWERS
from murmuration_runtime.dynamo import errors_named, items

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

PAGE = 1_000
THREADS = 64  # that read pages ahead: more than there are tweets in hand, so that none waits for another's


class DynamoFollows:
    """The table followers."""

    def __init__(self, dynamodb: "DynamoDBClient", table_prefix: str) -> None:
        self._dynamodb = dynamodb
        self._table = f"{table_prefix}{FOLLOWERS.name}"
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="followers")

    def check(self) -> None:
        """Raise StoreAwayError unless the table answers."""
        self.followers_among("-", ["-"])

    def followers_among(self, followee_id: str, user_ids: Collection[str]) -> set[str]:
        keys = [_key(followee_id, each) for each in user_ids]
        edges = items(self._dynamodb, self._table, keys, ProjectionExpression=FOLLOWERS.follower_id)
        return {edge[FOLLOWERS.follower_id]["S"] for edge in edges}

    def followed_by(self, user_id: str) -> frozenset[str]:
        with errors_named():
            pages = self._dynamodb.get_paginator("query").paginate(
                TableName=self._table,
                IndexName=FOLLOWERS.by_follower,
                KeyConditionExpression="follower_id = :user",
                ProjectionExpression=FOLLOWERS.followee_id,
                ExpressionAttributeValues={":user": {"S": user_id}},
            )
            return frozenset(item[FOLLOWERS.followee_id]["S"] for page in pages for item in page["Items"])

    def followers(self, followee_id: str, after: str | None = None) -> Iterator[list[str]]:
        """Read each page before it is asked for, the first from now."""
        pages = self._pages(followee_id, after)
        first = self._threads.submit(next, pages, None)

        def each() -> Iterator[list[str]]:
            coming = first
            while (page := coming.result()) is not None:
                coming = self._threads.submit(next, pages, None)
                yield page

        return each()

    def _pages(self, followee_id: str, after: str | None) -> Iterator[list[str]]:
        start: Any = {"ExclusiveStartKey": _key(followee_id, after)} if after else {}
        while True:
            with errors_named():
                page = self._dynamodb.query(
                    TableName=self._table,
                    KeyConditionExpression="followee_id = :followee",
                    ProjectionExpression=FOLLOWERS.follower_id,
                    ExpressionAttributeValues={":followee": {"S": followee_id}},
                    ConsistentRead=True,
                    Limit=PAGE,
                    **start,
                )
            yield [item[FOLLOWERS.follower_id]["S"] for item in page["Items"]]
            if "LastEvaluatedKey" not in page:
                return
            start = {"ExclusiveStartKey": page["LastEvaluatedKey"]}


def _key(followee_id: str, follower_id: str) -> Any:
    return {FOLLOWERS.followee_id: {"S": followee_id}, FOLLOWERS.follower_id: {"S": follower_id}}
