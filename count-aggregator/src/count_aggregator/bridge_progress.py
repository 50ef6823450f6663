"""What the bridge says in its table `leases`: how far it has published, and what was lost."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from contracts.tables import FOLLOWERS, LEASES
from murmuration_runtime.dynamo import errors_named
from murmuration_worker.dynamo_published import DynamoPublished

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


class BridgeProgress:
    """What the bridge says of the streams of followers."""

    def __init__(self, dynamodb: "DynamoDBClient", table_prefix: str) -> None:
        self._dynamodb = dynamodb
        self._leases = f"{table_prefix}{LEASES.name}"
        self.published_until = DynamoPublished(dynamodb, table_prefix, [FOLLOWERS.name]).until

    def owed(self) -> dict[str, str]:
        """Return the gaps that the bridge found and after which not everybody was recounted yet, by name."""
        return {item[LEASES.shard_id]["S"]: item[LEASES.gap]["S"] for item in self._rows()}

    def settle(self, names: Iterable[str]) -> None:
        """Forget these gaps, because everybody was recounted since they were read; safe to repeat."""
        for name in names:
            key: Any = {LEASES.stream_arn: {"S": LEASES.recounts()}, LEASES.shard_id: {"S": name}}
            with errors_named():
                self._dynamodb.delete_item(TableName=self._leases, Key=key)

    def _rows(self) -> Iterator[Any]:
        pages = self._dynamodb.get_paginator("query").paginate(
            TableName=self._leases,
            ConsistentRead=True,
            KeyConditionExpression="stream_arn = :recounts",
            ProjectionExpression="shard_id, gap",
            ExpressionAttributeValues={":recounts": {"S": LEASES.recounts()}},
        )
        with errors_named():
            for page in pages:
                yield from page["Items"]
