"""What the bridge says in its table `leases`: until when it has published what streams have shown."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from contracts.tables import LEASES
from murmuration_runtime.dynamo import errors_named

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


class DynamoShown:
    """The rows of the streams that tables had."""

    def __init__(self, dynamodb: "DynamoDBClient", table_prefix: str, tables: Mapping[str, str]) -> None:
        """Take the tables by their topics, without the prefix."""
        self._dynamodb = dynamodb
        self._table = f"{table_prefix}{LEASES.name}"
        self._tables = tables

    def shown_until(self) -> dict[str, int]:
        return {topic: self._of(table) for topic, table in self._tables.items()}

    def _of(self, table: str) -> int:
        """Return it of a table: the earliest of its streams that are not read to their ends."""
        with errors_named():
            pages = self._dynamodb.get_paginator("query").paginate(
                TableName=self._table,
                ConsistentRead=True,
                KeyConditionExpression="stream_arn = :streams",
                ProjectionExpression="#state, shown_until",
                ExpressionAttributeNames={"#state": LEASES.state},
                ExpressionAttributeValues={":streams": {"S": LEASES.streams_of(table)}},
            )
            streams = [item for page in pages for item in page["Items"]]
        return min((_until(each) for each in streams if each[LEASES.state]["S"] != LEASES.ENDED), default=0)


def _until(stream: Any) -> int:
    return int(stream.get(LEASES.shown_until, {"N": "0"})["N"])
