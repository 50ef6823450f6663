"""Who said what: the table tweets."""

from collections.abc import Callable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from contracts.living_tweets import listing
from contracts.tables import TWEETS
from murmuration_runtime.dynamo import errors_named

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

PAGE = 1_000  # rows that one call looks at
LOWEST, HIGHEST = "0", "9" * 19  # every tweet's id lies between them


class DynamoTweets:
    """The table tweets."""

    def __init__(
        self, dynamodb: "DynamoDBClient", table_prefix: str, is_switched: Callable[[], bool] = lambda: True
    ) -> None:
        """is_switched: whether the migration live-tweets is."""
        self._dynamodb = dynamodb
        self._is_switched = is_switched
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
        return [*islice(self._undeleted(author_id, LOWEST, HIGHEST, count), count)]

    def between(self, author_id: str, floor: str, top: str) -> Iterator[str]:
        return self._undeleted(author_id, floor, top, PAGE)

    def _undeleted(self, author_id: str, floor: str, top: str, page: int) -> Iterator[str]:
        """Give ids, newest first, by an index that may lag."""
        index, author = listing(is_switched=self._is_switched())
        pages = self._dynamodb.get_paginator("query").paginate(
            TableName=self._table,
            IndexName=index,
            KeyConditionExpression=f"{author} = :author AND tweet_id BETWEEN :floor AND :top",
            FilterExpression="attribute_not_exists(deleted_at)",
            ProjectionExpression=TWEETS.tweet_id,
            ExpressionAttributeValues={":author": {"S": author_id}, ":floor": {"S": floor}, ":top": {"S": top}},
            ScanIndexForward=False,
            PaginationConfig={"PageSize": page},
        )
        with errors_named():
            for each in pages:
                yield from (item[TWEETS.tweet_id]["S"] for item in each["Items"])
