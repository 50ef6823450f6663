"""Who said what: the table tweets."""

from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from contracts.tables import TWEETS
from murmuration_runtime.dynamo import errors_named

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


class DynamoTweets:
    """The table tweets."""

    def __init__(self, dynamodb: "DynamoDBClient", table_prefix: str) -> None:
        self._dynamodb = dynamodb
        self._table = f"{table_prefix}{TWEETS.name}"

    def check(self) -> None:
        """Raise StoreAwayError unless the table answers."""
        self.latest("-", 1)

    def author_of(self, tweet_id: str) -> str | None:
        """Return who said it, strongly consistent; None if it is deleted, or never was."""
        with errors_named():
            answer = self._dynamodb.get_item(
                TableName=self._table,
                Key={TWEETS.tweet_id: {"S": tweet_id}},
                ProjectionExpression="author_id, deleted_at",
                ConsistentRead=True,
            )
        item: Any = answer.get("Item", {TWEETS.deleted_at: {}})
        return None if TWEETS.deleted_at in item else item[TWEETS.author_id]["S"]

    def latest(self, author_id: str, count: int) -> list[str]:
        with errors_named():
            pages = self._dynamodb.get_paginator("query").paginate(
                TableName=self._table,
                IndexName=TWEETS.by_author,
                KeyConditionExpression="author_id = :author",
                FilterExpression="attribute_not_exists(deleted_at)",
                ProjectionExpression=TWEETS.tweet_id,
                ExpressionAttributeValues={":author": {"S": author_id}},
                ScanIndexForward=False,
                PaginationConfig={"PageSize": count},
            )
            items = islice(chain.from_iterable(page["Items"] for page in pages), count)
            return [item[TWEETS.tweet_id]["S"] for item in items]
