"""Accounts in DynamoDB: this service's part of the table users, one request a call."""

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from contracts.tables import USERS
from follow_service.follows import Account
from follow_service.profiles import Profile
from murmuration_runtime.dynamo import errors_named, retry_conflicts

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
        item = answer.get("Item", {})
        return _profile(item) if account(item).exists else None

    def save_profile(
        self, user_id: str, display_name: str, is_private: bool | None, now: int
    ) -> tuple[Profile, bool] | None:
        """Create or change a profile, unless the account is deleted; counts that are already there stay."""
        private: Any = {"BOOL": bool(is_private)}
        keep = "if_not_exists(is_private, :private)" if is_private is None else ":private"
        try:
            old: Any = retry_conflicts(
                lambda: self._dynamodb.update_item(
                    TableName=self._users,
                    Key={USERS.user_id: {"S": user_id}},
                    UpdateExpression=f"SET display_name = :name, is_private = {keep}, "
                    "created_at = if_not_exists(created_at, :now)",
                    ConditionExpression="attribute_not_exists(deleted_at)",
                    ExpressionAttributeValues={
                        ":name": {"S": display_name},
                        ":private": private,
                        ":now": {"N": str(now)},
                    },
                    ReturnValues="ALL_OLD",
                )
            ).get("Attributes", {})
        except self._dynamodb.exceptions.ConditionalCheckFailedException:
            return None
        born = {USERS.user_id: {"S": user_id}, USERS.is_private: private, USERS.created_at: {"N": str(now)}}
        changed: Any = {USERS.display_name: {"S": display_name}}
        if is_private is not None:
            changed[USERS.is_private] = private
        return _profile(born | old | changed), USERS.created_at not in old

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


def _profile(item: Any) -> Profile:
    return Profile(
        user_id=item[USERS.user_id]["S"],
        display_name=item[USERS.display_name]["S"],
        is_private=item[USERS.is_private]["BOOL"],
        followers_count=int(item.get(USERS.followers_count, {"N": "0"})["N"]),
        following_count=int(item.get(USERS.following_count, {"N": "0"})["N"]),
        created_at=int(item[USERS.created_at]["N"]),
    )
