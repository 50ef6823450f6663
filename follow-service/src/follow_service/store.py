"""Profiles and edges in DynamoDB: each call is one request to one table."""

import base64
import random
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from follow_service.follows import BadCursorError, Edge, Followed, Page, Profile, StoreAwayError, is_user_id

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

CONFLICT_ATTEMPTS = 8
_TIME = re.compile(r"[0-9]{1,15}")
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


class DynamoStore:
    """The Store on the tables users and followers."""

    def __init__(self, dynamodb: "DynamoDBClient", table_prefix: str, probe: "DynamoDBClient | None" = None) -> None:
        """Take a client for the work, and one for probes, which want their answer at once."""
        self._dynamodb = dynamodb
        self._probe = probe or dynamodb
        self._users = f"{table_prefix}users"
        self._followers = f"{table_prefix}followers"

    def check(self) -> None:
        """Raise StoreAwayError unless both tables answer."""
        with _away():
            self._probe.get_item(TableName=self._users, Key={"user_id": {"S": "-"}})
            self._probe.get_item(TableName=self._followers, Key={"followee_id": {"S": "-"}, "follower_id": {"S": "-"}})

    def profile(self, user_id: str) -> Profile | None:
        """Return the profile, strongly consistent, or None."""
        with _away():
            answer = self._dynamodb.get_item(
                TableName=self._users, Key={"user_id": {"S": user_id}}, ConsistentRead=True
            )
        item = answer.get("Item", {})
        return _profile(item) if "created_at" in item else None

    def save_profile(self, user_id: str, display_name: str, now: int) -> tuple[Profile, bool]:
        """Create or rename a profile; counts that are already there stay."""
        old = self._update_user(
            Key={"user_id": {"S": user_id}},
            UpdateExpression="SET display_name = :name, is_private = if_not_exists(is_private, :no), "
            "created_at = if_not_exists(created_at, :now)",
            ExpressionAttributeValues={
                ":name": {"S": display_name},
                ":no": {"BOOL": False},
                ":now": {"N": str(now)},
            },
            ReturnValues="ALL_OLD",
        ).get("Attributes", {})
        born = {"user_id": {"S": user_id}, "is_private": {"BOOL": False}, "created_at": {"N": str(now)}}
        return _profile(born | old | {"display_name": {"S": display_name}}), "created_at" not in old

    def add(self, edge: Edge, now: int) -> None:
        """Write the edge; the condition keeps the first row, so that a repeat is no change in the stream."""
        with _away(), suppress(self._dynamodb.exceptions.ConditionalCheckFailedException):
            self._dynamodb.put_item(
                TableName=self._followers,
                Item={**_key(edge), "followed_at": {"N": str(now)}},
                ConditionExpression="attribute_not_exists(followee_id)",
            )

    def remove(self, edge: Edge) -> None:
        """Delete the edge if it is there."""
        with _away():
            self._dynamodb.delete_item(TableName=self._followers, Key=_key(edge))

    def followers(self, user_id: str, limit: int, cursor: str | None) -> Page:
        """List who follows this user, newest first."""
        return self._edges("by_recency", "followee_id", "follower_id", user_id, limit, cursor)

    def following(self, user_id: str, limit: int, cursor: str | None) -> Page:
        """List whom this user follows, newest first."""
        return self._edges("by_follower", "follower_id", "followee_id", user_id, limit, cursor)

    def _edges(self, index: str, mine: str, theirs: str, user_id: str, limit: int, cursor: str | None) -> Page:
        def start(row: Followed) -> dict[str, Any]:
            return {mine: {"S": user_id}, theirs: {"S": row.user_id}, "followed_at": {"N": str(row.followed_at)}}

        query: dict[str, Any] = {"ExclusiveStartKey": start(_read_cursor(cursor))} if cursor else {}
        with _away():
            answer = self._dynamodb.query(
                TableName=self._followers,
                IndexName=index,
                KeyConditionExpression=f"{mine} = :me",
                ExpressionAttributeValues={":me": {"S": user_id}},
                ScanIndexForward=False,
                Limit=limit + 1,
                **query,
            )
        rows = [Followed(item[theirs]["S"], int(item["followed_at"]["N"])) for item in answer["Items"]]
        return Page(rows[:limit], _write_cursor(rows[limit - 1]) if len(rows) > limit else None)

    def _update_user(self, **request: Any) -> Any:
        """Update an item of users, waiting out a transaction of the aggregator that holds it for a moment."""
        conflict = self._dynamodb.exceptions.TransactionConflictException
        for attempt in range(CONFLICT_ATTEMPTS):
            try:
                with _away():
                    return self._dynamodb.update_item(TableName=self._users, **request)
            except conflict:
                time.sleep(random.uniform(0, 0.02 * 2**attempt))
        raise StoreAwayError(f"{self._users} was locked by other transactions {CONFLICT_ATTEMPTS} times in a row")


def _key(edge: Edge) -> dict[str, Any]:
    return {"followee_id": {"S": edge.followee_id}, "follower_id": {"S": edge.follower_id}}


def _profile(item: Any) -> Profile:
    return Profile(
        user_id=item["user_id"]["S"],
        display_name=item["display_name"]["S"],
        is_private=item["is_private"]["BOOL"],
        followers_count=int(item.get("followers_count", {"N": "0"})["N"]),
        following_count=int(item.get("following_count", {"N": "0"})["N"]),
        created_at=int(item["created_at"]["N"]),
    )


def _write_cursor(row: Followed) -> str:
    return base64.urlsafe_b64encode(f"{row.followed_at} {row.user_id}".encode()).decode().rstrip("=")


def _read_cursor(cursor: str) -> Followed:
    with suppress(ValueError):
        followed_at, _, user_id = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode().partition(" ")
        if _TIME.fullmatch(followed_at) and is_user_id(user_id):
            return Followed(user_id, int(followed_at))
    raise BadCursorError("cursor: give back a next_cursor as it came, or leave it out")


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
