"""Accounts in DynamoDB: this service's part of the table users, one request a call."""

from collections.abc import Collection, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from contracts.profiles import PROJECTION, Profile, read_profile
from contracts.tables import USERS
from follow_service.follows import Account
from murmuration_runtime.dynamo import errors_named, items, retry_conflicts

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


class DynamoProfiles:
    """The Profiles on the table users, which count-aggregator's transactions hold for a moment now and then."""

    def __init__(self, dynamodb: "DynamoDBClient", table_prefix: str) -> None:
        self._dynamodb = dynamodb
        self._users = f"{table_prefix}{USERS.name}"

    def profile(self, user_id: str) -> Profile | None:
        with errors_named():
            answer = self._dynamodb.get_item(
                TableName=self._users, Key={USERS.user_id: {"S": user_id}}, ConsistentRead=True
            )
        return read_profile(answer.get("Item", {}))

    def profiles(self, user_ids: Collection[str]) -> Mapping[str, Profile]:
        keys = [{USERS.user_id: {"S": user_id}} for user_id in user_ids]
        found = map(read_profile, items(self._dynamodb, self._users, keys, ProjectionExpression=PROJECTION))
        return {profile.user_id: profile for profile in found if profile}

    def save_profile(
        self, user_id: str, display_name: str, is_private: bool | None, now: int
    ) -> tuple[Profile, bool] | None:
        """Create or change a profile, unless the account is deleted; counts that are already there stay."""
        keep = "if_not_exists(is_private, :private)" if is_private is None else ":private"
        try:
            row = retry_conflicts(
                lambda: self._dynamodb.update_item(
                    TableName=self._users,
                    Key={USERS.user_id: {"S": user_id}},
                    UpdateExpression=f"SET display_name = :name, is_private = {keep}, "
                    "created_at = if_not_exists(created_at, :now)",
                    ConditionExpression="attribute_not_exists(deleted_at)",
                    ExpressionAttributeValues={
                        ":name": {"S": display_name},
                        ":private": {"BOOL": bool(is_private)},
                        ":now": {"N": str(now)},
                    },
                    ReturnValues="ALL_NEW",
                )
            )["Attributes"]
        except self._dynamodb.exceptions.ConditionalCheckFailedException:
            return None
        profile = read_profile(row)
        return (profile, profile.created_at == now) if profile else None

    def delete_account(self, user_id: str, now: int) -> None:
        """Mark the account as deleted, forget its name, and put it on tweet-service's list of tweets to delete."""
        with suppress(self._dynamodb.exceptions.ConditionalCheckFailedException):
            retry_conflicts(
                lambda: self._dynamodb.update_item(
                    TableName=self._users,
                    Key={USERS.user_id: {"S": user_id}},
                    UpdateExpression="SET deleted_at = :now, erasure = :due REMOVE display_name",
                    ConditionExpression="attribute_not_exists(deleted_at)",
                    ExpressionAttributeValues={":now": {"N": str(now)}, ":due": {"S": USERS.DUE}},
                )
            )


def account(item: Any) -> Account:
    """Read what a follow depends on."""
    return Account(
        exists=USERS.created_at in item and USERS.deleted_at not in item,
        deleted=USERS.deleted_at in item,
        is_private=item.get(USERS.is_private, {}).get("BOOL", False),
        following_count=int(item.get(USERS.following_count, {"N": "0"})["N"]),
    )
