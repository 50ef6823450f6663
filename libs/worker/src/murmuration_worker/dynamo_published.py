"""How far the bridge has published what is written to a table: its rows in the table leases."""

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from contracts.tables import LEASES
from murmuration_runtime.dynamo import errors_named

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


class DynamoPublished:
    """What the bridge says of the streams of some tables."""

    def __init__(self, dynamodb: "DynamoDBClient", table_prefix: str, tables: Collection[str]) -> None:
        """Take the tables by their names without the prefix."""
        self._dynamodb = dynamodb
        self._prefix = table_prefix
        self._tables = tables

    def until(self) -> int:
        """Return the moment (ms) before which whatever was committed is published: of the stream furthest behind.

        A stream that the bridge does not know yet counts as not begun.
        """
        return min(map(self._until, self._tables))

    def _until(self, table: str) -> int:
        with errors_named():
            described = self._dynamodb.describe_table(TableName=f"{self._prefix}{table}")
            pages = self._dynamodb.get_paginator("query").paginate(
                TableName=f"{self._prefix}{LEASES.name}",
                ConsistentRead=True,
                KeyConditionExpression="stream_arn = :table",
                ProjectionExpression="shard_id, #state, tip_at",
                ExpressionAttributeNames={"#state": LEASES.state},
                ExpressionAttributeValues={":table": {"S": LEASES.streams_of(table)}},
            )
            streams = {item[LEASES.shard_id]["S"]: item for page in pages for item in page["Items"]}
        if described["Table"].get("LatestStreamArn") not in streams:
            return 0
        tips = [_tip(item) for item in streams.values() if item[LEASES.state]["S"] != LEASES.ENDED]
        return min(tips, default=0)


def _tip(item: Any) -> int:
    return int(item.get(LEASES.tip_at, {"N": "0"})["N"])
