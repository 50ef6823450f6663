"""Who is a celebrity, from which tweet on: in the table users, and in its index that has nobody else."""

from typing import TYPE_CHECKING, Any

from contracts.tables import USERS
from murmuration_runtime.dynamo import errors_named, retry_conflicts
from murmuration_timelines.celebrities import Author

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


class DynamoCelebrities:
    """The rows of users, and their index by_celebrity."""

    def __init__(self, dynamodb: "DynamoDBClient", table_prefix: str) -> None:
        self._dynamodb = dynamodb
        self._table = f"{table_prefix}{USERS.name}"

    def check(self) -> None:
        """Raise StoreAwayError unless the table answers."""
        self.author("-")

    def author(self, user_id: str) -> Author:
        with errors_named():
            answer = self._dynamodb.get_item(
                TableName=self._table,
                Key={USERS.user_id: {"S": user_id}},
                ProjectionExpression="followers_count, celebrity_since, celebrity_until, deleted_at",
                ConsistentRead=True,
            )
        item: Any = answer.get("Item", {})
        return Author(
            followers_count=int(item.get(USERS.followers_count, {"N": "0"})["N"]),
            since=item.get(USERS.celebrity_since, {}).get("S"),
            until=item.get(USERS.celebrity_until, {}).get("S"),
            is_departed=USERS.deleted_at in item,
        )

    def celebrities(self) -> frozenset[str]:
        """Return who is a celebrity, as far as the index has them."""
        with errors_named():
            pages = self._dynamodb.get_paginator("scan").paginate(TableName=self._table, IndexName=USERS.by_celebrity)
            return frozenset(item[USERS.user_id]["S"] for page in pages for item in page["Items"])

    def promote(self, user_id: str, since: str) -> bool:
        return self._update(
            user_id, "SET celebrity_since = :since", "attribute_not_exists(celebrity_since)", {":since": {"S": since}}
        )

    def begin_demotion(self, user_id: str, until: str, threshold: int) -> bool:
        return self._update(
            user_id,
            "SET celebrity_until = if_not_exists(celebrity_until, :until)",
            "attribute_exists(celebrity_since) AND (attribute_not_exists(followers_count) OR followers_count < :many)",
            {":until": {"S": until}, ":many": {"N": str(threshold)}},
        )

    def end_demotion(self, user_id: str, since: str, until: str) -> bool:
        return self._update(
            user_id,
            "REMOVE celebrity_since, celebrity_until",
            "celebrity_since = :since AND celebrity_until = :until",
            {":since": {"S": since}, ":until": {"S": until}},
        )

    def _update(self, user_id: str, update: str, condition: str, values: dict[str, Any]) -> bool:
        """Update a row if the condition holds, waiting out a transaction that holds it for a moment."""
        try:
            retry_conflicts(
                lambda: self._dynamodb.update_item(
                    TableName=self._table,
                    Key={USERS.user_id: {"S": user_id}},
                    UpdateExpression=f"{update} ADD version :one",
                    ConditionExpression=condition,
                    ExpressionAttributeValues={**values, ":one": {"N": "1"}},
                )
            )
        except self._dynamodb.exceptions.ConditionalCheckFailedException:
            return False
        return True
