"""Rows and counts as DynamoDB has them: one account exactly, or everybody in passing."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from contracts.tables import FOLLOWERS, USERS
from count_aggregator.ledger import ADD_COUNTS
from murmuration_runtime.dynamo import errors_named

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


@dataclass(frozen=True)
class Look:
    """One account at one moment: its counts, the version of them, and the rows that they count."""

    followers_count: int
    following_count: int
    version: int
    followers: int
    following: int

    @property
    def drift(self) -> tuple[int, int]:
        """What the counts lack of the rows."""
        return self.followers - self.followers_count, self.following - self.following_count


class Accounts:
    """The tables users and followers."""

    def __init__(self, dynamodb: "DynamoDBClient", table_prefix: str, before_page: Callable[[], object]) -> None:
        """Take whom to ask before each page that is read, to limit the rate and to show the progress."""
        self._dynamodb = dynamodb
        self._users = f"{table_prefix}{USERS.name}"
        self._followers = f"{table_prefix}{FOLLOWERS.name}"
        self._before_page = before_page

    def look(self, user_id: str) -> Look:
        """Look at an account: counts first, then rows; the index by_follower may lag behind its table."""
        self._before_page()
        key: Any = {USERS.user_id: {"S": user_id}}
        with errors_named():
            item = self._dynamodb.get_item(
                TableName=self._users,
                Key=key,
                ProjectionExpression="followers_count, following_count, counts_version",
                ConsistentRead=True,
            ).get("Item", {})
        return Look(
            *_counts(item),
            followers=self._rows(FOLLOWERS.followee_id, user_id, ConsistentRead=True),
            following=self._rows(FOLLOWERS.follower_id, user_id, IndexName=FOLLOWERS.by_follower),
        )

    def repair(self, user_id: str, look: Look) -> bool:
        """Add what the counts lack, if they are still those of the look."""
        followers, following = look.drift
        values = {":followers": {"N": str(followers)}, ":following": {"N": str(following)}, ":one": {"N": "1"}}
        if look.version:
            values[":seen"] = {"N": str(look.version)}
        unchanged = "counts_version = :seen" if look.version else "attribute_not_exists(counts_version)"
        try:
            with errors_named():
                self._dynamodb.update_item(
                    TableName=self._users,
                    Key={USERS.user_id: {"S": user_id}},
                    UpdateExpression=ADD_COUNTS,
                    ConditionExpression=unchanged,
                    ExpressionAttributeValues=values,
                )
        except (
            self._dynamodb.exceptions.ConditionalCheckFailedException,
            self._dynamodb.exceptions.TransactionConflictException,
        ):
            return False
        return True

    def following(self, users: Collection[str]) -> dict[str, int]:
        """Count in the table itself whom they follow: one scan of followers, strongly consistent."""
        found = dict.fromkeys(users, 0)
        for item in self._scan(
            TableName=self._followers, ConsistentRead=True, ProjectionExpression=FOLLOWERS.follower_id
        ):
            if (user := item[FOLLOWERS.follower_id]["S"]) in found:
                found[user] += 1
        return found

    def suspects(self, until_counted: Callable[[], object] = lambda: None) -> tuple[int, list[str]]:
        """Return how many accounts there are, and everybody whose counts these scans do not prove to be right.

        Users, then followers, both sums in memory, then, when whatever was committed by then is counted, users again:
        whose counts moved meanwhile is a suspect, and so is who has rows and no item in users.
        """
        before = {item[USERS.user_id]["S"]: hash(_counts(item)) for item in self._scan_users()}
        followers: Counter[str] = Counter()
        following: Counter[str] = Counter()
        for item in self._scan(
            TableName=self._followers, ConsistentRead=True, ProjectionExpression="followee_id, follower_id"
        ):
            followers[item[FOLLOWERS.followee_id]["S"]] += 1
            following[item[FOLLOWERS.follower_id]["S"]] += 1
        until_counted()
        seen = 0
        suspects = []
        for item in self._scan_users():
            seen += 1
            user, counts = item[USERS.user_id]["S"], _counts(item)
            rows = followers.pop(user, 0), following.pop(user, 0)
            if rows != counts[:2] or before.get(user) != hash(counts):
                suspects.append(user)
        without = followers.keys() | following.keys()
        return seen + len(without), suspects + sorted(without)

    def _scan_users(self) -> Iterator[Any]:
        names = "user_id, followers_count, following_count, counts_version"
        return self._scan(TableName=self._users, ConsistentRead=True, ProjectionExpression=names)

    def _scan(self, **request: Any) -> Iterator[Any]:
        for page in self._pages("scan", **request):
            yield from page["Items"]

    def _rows(self, key: str, user_id: str, **where: Any) -> int:
        pages = self._pages(
            "query",
            TableName=self._followers,
            Select="COUNT",
            KeyConditionExpression=f"{key} = :me",
            ExpressionAttributeValues={":me": {"S": user_id}},
            **where,
        )
        return sum(page["Count"] for page in pages)

    def _pages(self, operation: Any, **request: Any) -> Iterator[Any]:
        self._before_page()
        with errors_named():
            for page in self._dynamodb.get_paginator(operation).paginate(**request):
                yield page
                if "LastEvaluatedKey" in page:
                    self._before_page()


def _counts(item: Any) -> tuple[int, int, int]:
    return (
        _number(item, USERS.followers_count),
        _number(item, USERS.following_count),
        _number(item, USERS.counts_version),
    )


def _number(item: Any, name: str) -> int:
    return int(item.get(name, {"N": "0"})["N"])
