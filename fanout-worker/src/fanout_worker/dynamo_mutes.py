"""Who does not want to read whom: the table mutes, read by its pairs."""

from collections.abc import Collection
from typing import TYPE_CHECKING

from contracts.tables import MUTES
from murmuration_runtime.dynamo import errors_named, items

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


class DynamoMutes:
    """The table mutes."""

    def __init__(self, dynamodb: "DynamoDBClient", table_prefix: str) -> None:
        self._dynamodb = dynamodb
        self._table = f"{table_prefix}{MUTES.name}"

    def check(self) -> None:
        """Raise StoreAwayError unless the table answers."""
        self.muters_among("-", ["-"])

    def muters_among(self, muted_id: str, user_ids: Collection[str]) -> set[str]:
        keys = [{MUTES.muter_id: {"S": each}, MUTES.muted_id: {"S": muted_id}} for each in user_ids]
        mutes = items(self._dynamodb, self._table, keys, ProjectionExpression=MUTES.muter_id)
        return {mute[MUTES.muter_id]["S"] for mute in mutes}

    def muted(self, user_id: str) -> frozenset[str]:
        with errors_named():
            pages = self._dynamodb.get_paginator("query").paginate(
                TableName=self._table,
                KeyConditionExpression="muter_id = :user",
                ProjectionExpression=MUTES.muted_id,
                ExpressionAttributeValues={":user": {"S": user_id}},
                ConsistentRead=True,
            )
            return frozenset(item[MUTES.muted_id]["S"] for page in pages for item in page["Items"])
