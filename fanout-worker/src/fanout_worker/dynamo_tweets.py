"""Who said what: the table tweets."""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

from contracts.tables import TWEETS
from murmuration_runtime.dynamo import errors_named

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

PAGE = 1_000  # rows that one call looks at


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
        newest = self._undeleted("author_id = :author", {":author": author_id}, count)
        return [*islice(newest, count)]

    def between(self, author_id: str, floor: str, top: str) -> Iterator[str]:
        condition = "author_id = :author AND tweet_id BETWEEN :floor AND :top"
        return self._undeleted(condition, {":author": author_id, ":floor": floor, ":top": top}, PAGE)

    def _undeleted(self, condition: str, values: Mapping[str, str], page: int) -> Iterator[str]:
        """Give ids, newest first, by an index that may lag."""
        pages = self._dynamodb.get_paginator("query").paginate(
            TableName=self._table,
            IndexName=TWEETS.by_author,
            KeyConditionExpression=condition,
            FilterExpression="attribute_not_exists(deleted_at)",
            ProjectionExpression=TWEETS.tweet_id,
            ExpressionAttributeValues={name: {"S": value} for name, value in values.items()},
            ScanIndexForward=False,
            PaginationConfig={"PageSize": page},
        )
        with errors_named():
            for each in pages:
                yield from (item[TWEETS.tweet_id]["S"] for item in each["Items"])
