"""One's own account in DynamoDB: this service's part of the table users, one request a call."""

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from contracts.profiles import read_profile
from contracts.tables import USERS
from follow_service.dynamo_facts import user_key
from follow_service.profiles import Account, OwnProfile
from murmuration_runtime.dynamo import errors_named, retry_conflicts

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

_NOT_DELETED = "attribute_not_exists(deleted_at)"


class DynamoProfiles:
    """The Profiles on the table users, which count-aggregator's transactions hold for a moment now and then."""

    def __init__(self, dynamodb: "DynamoDBClient", table_prefix: str) -> None:
        self._dynamodb = dynamodb
        self._users = f"{table_prefix}{USERS.name}"

    def own(self, user_id: str) -> OwnProfile | None:
        return _own(self._row(user_id))

    def account(self, user_id: str) -> Account:
        return account(self._row(user_id))

    def save(
        self, user_id: str, display_name: str, is_private: bool | None, discoverable: bool | None, now: int
    ) -> OwnProfile | None:
        """Create or change a profile, unless the account is deleted; counts that are already there stay.

        Whoever says that they are public mostly is already: only if the row says otherwise is there a second request.
        """
        keep = "if_not_exists(is_private, :private)" if is_private is None else ":private"
        name = f"display_name = :name, is_private = {keep}, created_at = if_not_exists(created_at, :now)"
        values: Any = {":name": {"S": display_name}, ":private": {"BOOL": bool(is_private)}, ":now": {"N": str(now)}}
        if discoverable is not None:
            name += ", discoverable = :discoverable"
            values[":discoverable"] = {"BOOL": discoverable}
        if is_private is not False:
            closes = " REMOVE opening, opened_at" if is_private else ""
            return self._update(user_id, f"SET {name}{closes}", _NOT_DELETED, values)
        as_it_was = f"{_NOT_DELETED} AND is_private <> :private_before"
        before = {":private_before": {"BOOL": True}}
        saved = self._update(user_id, f"SET {name}", as_it_was, values | before)
        if saved:
            return saved
        opens = f"SET {name}, opening = :due, opened_at = :now"
        return self._update(user_id, opens, _NOT_DELETED, values | {":due": {"S": USERS.DUE}})

    def delete(self, user_id: str, now: int) -> None:
        """Forget the name, and put the account on the lists of those whose tweets and edges are to be deleted."""
        self._update(
            user_id,
            "SET deleted_at = :now, erasure = :due, departure = :due REMOVE display_name, opening, opened_at",
            f"attribute_exists(created_at) AND {_NOT_DELETED}",
            {":now": {"N": str(now)}, ":due": {"S": USERS.DUE}},
        )

    def _row(self, user_id: str) -> Any:
        with errors_named():
            answer = self._dynamodb.get_item(TableName=self._users, Key=user_key(user_id), ConsistentRead=True)
        return answer.get("Item", {})

    def _update(self, user_id: str, change: str, condition: str, values: Any) -> OwnProfile | None:
        """Change the row and raise its version if the condition holds; return what it is then, None if it does not."""
        with suppress(self._dynamodb.exceptions.ConditionalCheckFailedException):
            answer = retry_conflicts(
                lambda: self._dynamodb.update_item(
                    TableName=self._users,
                    Key=user_key(user_id),
                    UpdateExpression=f"{change} ADD version :one",
                    ConditionExpression=condition,
                    ExpressionAttributeValues={**values, ":one": {"N": "1"}},
                    ReturnValues="ALL_NEW",
                )
            )
            return _own(answer["Attributes"])
        return None


def account(row: Any) -> Account:
    """Read what is allowed to somebody."""
    return Account(
        exists=USERS.created_at in row and USERS.deleted_at not in row,
        deleted=USERS.deleted_at in row,
        is_private=row.get(USERS.is_private, {}).get("BOOL", False),
        following_count=int(row.get(USERS.following_count, {"N": "0"})["N"]),
    )


def _own(row: Any) -> OwnProfile | None:
    profile = read_profile(row)
    if profile is None:
        return None
    return OwnProfile(**vars(profile), discoverable=row.get(USERS.discoverable, {"BOOL": True})["BOOL"])
