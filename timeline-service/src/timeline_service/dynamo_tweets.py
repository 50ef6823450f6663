"""Follows and tweets in DynamoDB: all of them, for what the cache does not hold."""

import time
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from contracts.tables import FOLLOWERS, TWEETS, USERS
from timeline_service.timeline import BEGINNING, Run, StoreAwayError, Tweet, tweet

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

QUERIES = 16  # at once, over all requests
BATCH = 100  # keys that one BatchGetItem takes
MOST_THROTTLED = 5
_PASSING = {
    "ProvisionedThroughputExceededException",
    "RequestLimitExceeded",
    "ResourceNotFoundException",  # the tables are still to be made
    "ThrottlingException",
}


def client(attempts: int = 3) -> "DynamoDBClient":
    """Build a client that gives up within seconds, so that a request never hangs on its store."""
    retries: Any = {"mode": "standard", "total_max_attempts": attempts}
    return boto3.client(
        "dynamodb", config=Config(connect_timeout=1, read_timeout=2, retries=retries, max_pool_connections=32)
    )


class DynamoArchive:
    """The Archive on the tables followers and tweets."""

    def __init__(self, dynamodb: "DynamoDBClient", table_prefix: str, probe: "DynamoDBClient | None" = None) -> None:
        """Take a client for the work, and one for probes, which want their answer at once."""
        self._dynamodb = dynamodb
        self._probe = probe or dynamodb
        self._followers = f"{table_prefix}{FOLLOWERS.name}"
        self._tweets = f"{table_prefix}{TWEETS.name}"
        self._users = f"{table_prefix}{USERS.name}"
        self._threads = ThreadPoolExecutor(QUERIES, thread_name_prefix="archive")

    def check(self) -> None:
        """Raise StoreAwayError unless both tables answer."""
        with _away():
            self._probe.get_item(TableName=self._tweets, Key={TWEETS.tweet_id: {"S": "-"}})
            self._probe.get_item(TableName=self._followers, Key=_edge("-", "-"))

    def followees(self, user_id: str, noted: Iterable[str] = ()) -> frozenset[str]:
        """Return whom the user follows: by the index, which may lag, but for the noted ones by the table itself."""
        with _away():
            pages = self._dynamodb.get_paginator("query").paginate(
                TableName=self._followers,
                IndexName=FOLLOWERS.by_follower,
                KeyConditionExpression="follower_id = :user",
                ExpressionAttributeValues={":user": {"S": user_id}},
            )
            indexed = {item[FOLLOWERS.followee_id]["S"] for page in pages for item in page["Items"]}
        keys = [_edge(user_id, followee_id) for followee_id in noted]
        certain = {item[FOLLOWERS.followee_id]["S"] for item in self._items(self._followers, keys)}
        return frozenset(indexed.difference(noted) | certain)

    def ids(self, below: Mapping[str, str], count: int) -> dict[str, Run]:
        """Return for each author up to so many of their undeleted tweets below an id of theirs: one query each."""
        with _away():
            return dict(self._threads.map(partial(self._by_author, count), below.items()))

    def celebrities(self) -> frozenset[str]:
        """Return who is a celebrity: an index of them alone, so reading it whole is cheap."""
        with _away():
            pages = self._dynamodb.get_paginator("scan").paginate(TableName=self._users, IndexName=USERS.by_celebrity)
            return frozenset(item[USERS.user_id]["S"] for page in pages for item in page["Items"])

    def tweets(self, tweet_ids: Iterable[str]) -> dict[str, Tweet]:
        """Return those of the tweets that are not deleted, strongly consistent."""
        items = self._items(self._tweets, [{TWEETS.tweet_id: {"S": tweet_id}} for tweet_id in tweet_ids])
        return {item[TWEETS.tweet_id]["S"]: _tweet(item) for item in items if TWEETS.deleted_at not in item}

    def _items(self, table: str, keys: list[Any]) -> Iterator[Any]:
        """Give the items that are there, strongly consistent, however many."""
        throttled = 0
        while keys:
            request: Any = {table: {"Keys": keys[:BATCH], "ConsistentRead": True}}
            with _away():
                answer = self._dynamodb.batch_get_item(RequestItems=request)
            yield from answer["Responses"].get(table, [])
            left = answer["UnprocessedKeys"].get(table, {"Keys": []})["Keys"]
            throttled = throttled + 1 if left else 0
            if throttled == MOST_THROTTLED:
                raise StoreAwayError(f"DynamoDB left keys of {table} unread {throttled} times in a row")
            time.sleep(0.02 * throttled)
            keys = [*left, *keys[BATCH:]]

    def _by_author(self, count: int, author: tuple[str, str]) -> tuple[str, Run]:
        answer = self._dynamodb.query(
            TableName=self._tweets,
            IndexName=TWEETS.by_author,
            KeyConditionExpression="author_id = :author AND tweet_id < :below",
            FilterExpression="attribute_not_exists(deleted_at)",
            ProjectionExpression=TWEETS.tweet_id,
            ExpressionAttributeValues={":author": {"S": author[0]}, ":below": {"S": author[1]}},
            ScanIndexForward=False,
            Limit=count,
        )
        floor = answer["LastEvaluatedKey"][TWEETS.tweet_id]["S"] if "LastEvaluatedKey" in answer else BEGINNING
        return author[0], Run([item[TWEETS.tweet_id]["S"] for item in answer["Items"]], floor)


def _edge(follower_id: str, followee_id: str) -> Any:
    return {FOLLOWERS.followee_id: {"S": followee_id}, FOLLOWERS.follower_id: {"S": follower_id}}


def _tweet(item: Any) -> Tweet:
    return tweet(
        item[TWEETS.tweet_id]["S"],
        item[TWEETS.author_id]["S"],
        item[TWEETS.text]["S"],
        int(item[TWEETS.created_at]["N"]),
    )


@contextmanager
def _away() -> Iterator[None]:
    """Name what is worth another try; anything else is our own mistake and goes up as it is."""
    try:
        yield
    except BotoCoreError as error:
        raise StoreAwayError(f"DynamoDB did not answer: {error}") from error
    except ClientError as error:
        status = error.response["ResponseMetadata"]["HTTPStatusCode"]
        code = error.response["Error"]["Code"]
        if status >= HTTPStatus.INTERNAL_SERVER_ERROR or code in _PASSING:
            raise StoreAwayError(f"DynamoDB refused for now: {error}") from error
        raise
