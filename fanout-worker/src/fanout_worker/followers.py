"""Who follows somebody, as the table says now."""

from collections.abc import Iterator
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


class Followers:
    """The table followers."""

    def __init__(self, dynamodb: "DynamoDBClient", table_prefix: str) -> None:
        self._dynamodb = dynamodb
        self._table = f"{table_prefix}followers"

    def check(self) -> None:
        """Raise StoreAwayError unless the table answers."""
        next(self.pages("-"), None)

    def pages(self, followee_id: str) -> Iterator[list[str]]:
        """Give the followers in pages, strongly consistent."""
        try:
            for page in self._dynamodb.get_paginator("query").paginate(
                TableName=self._table,
                KeyConditionExpression="followee_id = :followee",
                ProjectionExpression="follower_id",
                ExpressionAttributeValues={":followee": {"S": followee_id}},
                ConsistentRead=True,
                PaginationConfig={"PageSize": PAGE},
            ):
                yield [item["follower_id"]["S"] for item in page["Items"]]
        except (BotoCoreError, ClientError) as error:
            raise StoreAwayError(f"DynamoDB did not answer: {error}") from error
