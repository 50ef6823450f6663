"""Who follows whom: the table followers, read by its followee."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from contracts.tables import FOLLOWERS
from murmuration_runtime.dynamo import errors_named

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

PAGE = 1_000
THREADS = 8  # that read pages ahead


class DynamoFollows:
    """The table followers."""

    def __init__(self, dynamodb: "DynamoDBClient", table_prefix: str) -> None:
        self._dynamodb = dynamodb
        self._table = f"{table_prefix}{FOLLOWERS.name}"
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="followers")

    def check(self) -> None:
        """Raise StoreAwayError unless the table answers."""
        self.follows("-", "-")

    def follows(self, follower_id: str, followee_id: str) -> bool:
        key: Any = {FOLLOWERS.followee_id: {"S": followee_id}, FOLLOWERS.follower_id: {"S": follower_id}}
        with errors_named():
            return "Item" in self._dynamodb.get_item(
                TableName=self._table, Key=key, ProjectionExpression=FOLLOWERS.followee_id, ConsistentRead=True
            )

    def followers(self, followee_id: str) -> Iterator[list[str]]:
        """Read each page before it is asked for, the first from now."""
        pages = self._pages(followee_id)
        first = self._threads.submit(next, pages, None)

        def each() -> Iterator[list[str]]:
            coming = first
            while (page := coming.result()) is not None:
                coming = self._threads.submit(next, pages, None)
                yield page

        return each()

    def _pages(self, followee_id: str) -> Iterator[list[str]]:
        with errors_named():
            for page in self._dynamodb.get_paginator("query").paginate(
                TableName=self._table,
                KeyConditionExpression="followee_id = :followee",
                ProjectionExpression=FOLLOWERS.follower_id,
                ExpressionAttributeValues={":followee": {"S": followee_id}},
                ConsistentRead=True,
                PaginationConfig={"PageSize": PAGE},
            ):
                yield [item[FOLLOWERS.follower_id]["S"] for item in page["Items"]]
