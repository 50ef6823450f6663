"""Who wrote the tweets of a page: the table users, by its key."""

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from contracts.profiles import PROJECTION, Profile, read_profile
from contracts.tables import USERS
from murmuration_runtime.dynamo import items

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


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
