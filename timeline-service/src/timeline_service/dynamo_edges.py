"""Whether somebody reads these authors now: the tables followers and mutes, by their pairs, strongly consistent."""

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from contracts.tables import FOLLOWERS, MUTES
from murmuration_runtime.dynamo import items_of_tables

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


class DynamoEdges:
    """Follows and mutes: of 50 authors one call, of both tables."""

    def __init__(self, dynamodb: "DynamoDBClient", table_prefix: str) -> None:
        self._dynamodb = dynamodb
        self._followers = f"{table_prefix}{FOLLOWERS.name}"
        self._mutes = f"{table_prefix}{MUTES.name}"
        self._projected: dict[str, Any] = {
            self._followers: {"ProjectionExpression": FOLLOWERS.followee_id},
            self._mutes: {"ProjectionExpression": MUTES.muted_id},
        }

    def check(self) -> None:
        """Raise StoreAwayError unless the tables answer."""
        self.read_by("-", ["-"])

    def read_by(self, user_id: str, author_ids: Collection[str]) -> set[str]:
        keys: list[tuple[str, Any]] = []
        for each in author_ids:
            edge = {FOLLOWERS.followee_id: {"S": each}, FOLLOWERS.follower_id: {"S": user_id}}
            mute = {MUTES.muter_id: {"S": user_id}, MUTES.muted_id: {"S": each}}
            keys += [(self._followers, edge), (self._mutes, mute)]
        followed, muted = set(), set()
        for table, item in items_of_tables(self._dynamodb, keys, self._projected):
            if table == self._followers:
                followed.add(item[FOLLOWERS.followee_id]["S"])
            else:
                muted.add(item[MUTES.muted_id]["S"])
        return followed - muted
