"""Who follows whom and who said what, as the tables have it now."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from fanout_worker.deliveries import StoreAwayError

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

PAGE = 1_000


def client() -> "DynamoDBClient":
    """Build a client that tries once and gives up within seconds: whoever calls tries again."""
    retries: Any = {"mode": "standard", "total_max_attempts": 1}
    return boto3.client(
        "dynamodb", config=Config(connect_timeout=2, read_timeout=4, retries=retries, max_pool_connections=16)
    )


class Tables:
    """The tables followers and tweets, for reading."""

    def __init__(self, dynamodb: "DynamoDBClient", table_prefix: str) -> None:
        self._dynamodb = dynamodb
        self._followers = f"{table_prefix}followers"
        self._tweets = f"{table_prefix}tweets"

    def check(self) -> None:
        """Raise StoreAwayError unless both tables answer."""
        self.follows("-", "-")
        self.latest("-", 1)

    def followers(self, followee_id: str) -> Iterator[list[str]]:
        """Give the followers in pages, strongly consistent."""
        with _away():
            for page in self._dynamodb.get_paginator("query").paginate(
                TableName=self._followers,
                KeyConditionExpression="followee_id = :followee",
                ProjectionExpression="follower_id",
                ExpressionAttributeValues={":followee": {"S": followee_id}},
                ConsistentRead=True,
                PaginationConfig={"PageSize": PAGE},
            ):
                yield [item["follower_id"]["S"] for item in page["Items"]]

    def follows(self, follower_id: str, followee_id: str) -> bool:
        """Tell whether the edge is there, strongly consistent."""
        key: Any = {"followee_id": {"S": followee_id}, "follower_id": {"S": follower_id}}
        with _away():
            return "Item" in self._dynamodb.get_item(TableName=self._followers, Key=key, ConsistentRead=True)

    def latest(self, author_id: str, count: int) -> list[str]:
        """Return the author's newest undeleted ids, as far as the index has them."""
        with _away():
            pages = self._dynamodb.get_paginator("query").paginate(
                TableName=self._tweets,
                IndexName="by_author",
                KeyConditionExpression="author_id = :author",
                FilterExpression="attribute_not_exists(deleted_at)",
                ProjectionExpression="tweet_id",
                ExpressionAttributeValues={":author": {"S": author_id}},
                ScanIndexForward=False,
                PaginationConfig={"PageSize": count},
            )
            return [item["tweet_id"]["S"] for item in islice(chain.from_iterable(p["Items"] for p in pages), count)]


@contextmanager
def _away() -> Iterator[None]:
    try:
        yield
    except (BotoCoreError, ClientError) as error:
        raise StoreAwayError(f"DynamoDB did not answer: {error}") from error
