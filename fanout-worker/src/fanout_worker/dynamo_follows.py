"""Who follows whom and who said what, as the tables have it now; and who is a celebrity."""

import random
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from contracts.tables import FOLLOWERS, TWEETS, USERS
from fanout_worker.celebrities import Author
from fanout_worker.deliveries import StoreAwayError
from fanout_worker.store import away

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

PAGE = 1_000
THREADS = 8  # that read pages ahead
CONFLICT_ATTEMPTS = 8


class Tables:
    """The tables followers and tweets, for reading, and of users what makes a celebrity."""

    def __init__(self, dynamodb: "DynamoDBClient", table_prefix: str) -> None:
        self._dynamodb = dynamodb
        self._followers = f"{table_prefix}{FOLLOWERS.name}"
        self._tweets = f"{table_prefix}{TWEETS.name}"
        self._users = f"{table_prefix}{USERS.name}"
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="followers")

    def check(self) -> None:
        """Raise StoreAwayError unless the tables answer."""
        self.follows("-", "-")
        self.latest("-", 1)
        self.author("-")

    def author(self, user_id: str) -> Author:
        """Return what decides how an author's tweets travel, strongly consistent."""
        with away():
            answer = self._dynamodb.get_item(
                TableName=self._users,
                Key={USERS.user_id: {"S": user_id}},
                ProjectionExpression="followers_count, celebrity_since, celebrity_until",
                ConsistentRead=True,
            )
        return _author(answer.get("Item", {}))

    def celebrities(self) -> frozenset[str]:
        """List the celebrities, as far as the index has them."""
        with away():
            pages = self._dynamodb.get_paginator("scan").paginate(TableName=self._users, IndexName=USERS.by_celebrity)
            return frozenset(item[USERS.user_id]["S"] for page in pages for item in page["Items"])

    def promote(self, user_id: str, since: str) -> bool:
        """Make somebody a celebrity from this id on; False if they are one already."""
        return self._update_user(
            user_id, "SET celebrity_since = :since", "attribute_not_exists(celebrity_since)", {":since": {"S": since}}
        )

    def begin_demotion(self, user_id: str, until: str, threshold: int) -> bool:
        """Have all tweets of a celebrity pushed again; False if they are none, or have the followers of one."""
        return self._update_user(
            user_id,
            "SET celebrity_until = if_not_exists(celebrity_until, :until)",
            "attribute_exists(celebrity_since) AND (attribute_not_exists(followers_count) OR followers_count < :many)",
            {":until": {"S": until}, ":many": {"N": str(threshold)}},
        )

    def end_demotion(self, user_id: str, since: str, until: str) -> bool:
        """Make somebody a celebrity no longer; False if another demotion has ended this one's."""
        return self._update_user(
            user_id,
            "REMOVE celebrity_since, celebrity_until",
            "celebrity_since = :since AND celebrity_until = :until",
            {":since": {"S": since}, ":until": {"S": until}},
        )

    def followers(self, followee_id: str) -> Iterator[list[str]]:
        """Give the followers in pages, strongly consistent; each is read before it is asked for, the first from now."""
        pages = self._pages(followee_id)
        first = self._threads.submit(next, pages, None)

        def each() -> Iterator[list[str]]:
            coming = first
            while (page := coming.result()) is not None:
                coming = self._threads.submit(next, pages, None)
                yield page

        return each()

    def follows(self, follower_id: str, followee_id: str) -> bool:
        """Tell whether the edge is there, strongly consistent."""
        key: Any = {FOLLOWERS.followee_id: {"S": followee_id}, FOLLOWERS.follower_id: {"S": follower_id}}
        with away():
            return "Item" in self._dynamodb.get_item(TableName=self._followers, Key=key, ConsistentRead=True)

    def author_of(self, tweet_id: str) -> str | None:
        """Return who said it, strongly consistent; None if it is deleted, or never was."""
        with away():
            answer = self._dynamodb.get_item(
                TableName=self._tweets, Key={TWEETS.tweet_id: {"S": tweet_id}}, ConsistentRead=True
            )
        item: Any = answer.get("Item", {TWEETS.deleted_at: {}})
        return None if TWEETS.deleted_at in item else item[TWEETS.author_id]["S"]

    def latest(self, author_id: str, count: int) -> list[str]:
        """Return the author's newest undeleted ids, as far as the index has them."""
        with away():
            pages = self._dynamodb.get_paginator("query").paginate(
                TableName=self._tweets,
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

    def _pages(self, followee_id: str) -> Iterator[list[str]]:
        with away():
            for page in self._dynamodb.get_paginator("query").paginate(
                TableName=self._followers,
                KeyConditionExpression="followee_id = :followee",
                ProjectionExpression=FOLLOWERS.follower_id,
                ExpressionAttributeValues={":followee": {"S": followee_id}},
                ConsistentRead=True,
                PaginationConfig={"PageSize": PAGE},
            ):
                yield [item[FOLLOWERS.follower_id]["S"] for item in page["Items"]]

    def _update_user(self, user_id: str, update: str, condition: str, values: dict[str, Any]) -> bool:
        """Update an item of users if the condition holds, waiting out a transaction that holds it for a moment."""
        for attempt in range(CONFLICT_ATTEMPTS):
            try:
                with away():
                    self._dynamodb.update_item(
                        TableName=self._users,
                        Key={USERS.user_id: {"S": user_id}},
                        UpdateExpression=update,
                        ConditionExpression=condition,
                        ExpressionAttributeValues=values,
                    )
            except self._dynamodb.exceptions.ConditionalCheckFailedException:
                return False
            except self._dynamodb.exceptions.TransactionConflictException:
                time.sleep(random.uniform(0, 0.02 * 2**attempt))
            else:
                return True
        raise StoreAwayError(f"{self._users} was locked by other transactions {CONFLICT_ATTEMPTS} times in a row")


def _author(item: Any) -> Author:
    return Author(
        followers_count=int(item.get(USERS.followers_count, {"N": "0"})["N"]),
        since=item.get(USERS.celebrity_since, {}).get("S"),
        until=item.get(USERS.celebrity_until, {}).get("S"),
    )
