"""Who wrote the tweets of a page, and who deleted their account: the table users, by its key and by an index."""

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from contracts.profiles import PROJECTION, Profile, read_profile
from contracts.tables import USERS
from murmuration_runtime.dynamo import errors_named, items

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


DEPARTED = 1_000  # the newest; whoever left before is erased, or the eraser does not work


class DynamoProfiles:
    """The table users."""

    def __init__(self, dynamodb: "DynamoDBClient", table_prefix: str) -> None:
        self._dynamodb = dynamodb
        self._table = f"{table_prefix}{USERS.name}"

    def check(self) -> None:
        """Raise StoreAwayError unless the table answers."""
        self.profiles(["-"])

    def profiles(self, user_ids: Collection[str]) -> Mapping[str, Profile]:
        """Return those of these profiles that there are, strongly consistent."""
        keys = [{USERS.user_id: {"S": user_id}} for user_id in user_ids]
        found = map(read_profile, items(self._dynamodb, self._table, keys, ProjectionExpression=PROJECTION))
        return {profile.user_id: profile for profile in found if profile}

    def departed(self) -> frozenset[str]:
        """Return who deleted their account lately, and has tweets that are not erased yet."""
        with errors_named():
            answer = self._dynamodb.query(
                TableName=self._table,
                IndexName=USERS.by_erasure,
                KeyConditionExpression="erasure = :due",
                ExpressionAttributeValues={":due": {"S": USERS.DUE}},
                ScanIndexForward=False,
                Limit=DEPARTED,
            )
        return frozenset(item[USERS.user_id]["S"] for item in answer["Items"])
