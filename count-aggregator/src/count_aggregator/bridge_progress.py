"""What the bridge says in its table `leases`: how far it has published, and what was lost."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from contracts.tables import FOLLOWERS, LEASES
from murmuration_runtime.dynamo import errors_named

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


class BridgeProgress:
    """What the bridge says of the streams of followers."""

    def __init__(self, dynamodb: "DynamoDBClient", table_prefix: str) -> None:
        self._dynamodb = dynamodb
        self._followers = f"{table_prefix}{FOLLOWERS.name}"
        self._leases = f"{table_prefix}{LEASES.name}"

    def published_until(self) -> int:
        """Return the moment (ms) before which whatever was committed is published: of the stream furthest behind.

        A stream that the bridge does not know yet counts as not begun.
        """
        with errors_named():
            current = self._dynamodb.describe_table(TableName=self._followers)["Table"].get("LatestStreamArn")
        streams = {item[LEASES.shard_id]["S"]: item for item in self._rows(LEASES.streams_of(FOLLOWERS.name))}
        if current not in streams:
            return 0
        tips = [_tip(item) for item in streams.values() if item[LEASES.state]["S"] != LEASES.ENDED]
        return min(tips, default=0)

    def owed(self) -> dict[str, str]:
        """Return the gaps that the bridge found and after which not everybody was recounted yet, by name."""
        return {item[LEASES.shard_id]["S"]: item[LEASES.gap]["S"] for item in self._rows(LEASES.recounts())}

    def settle(self, names: Iterable[str]) -> None:
        """Forget these gaps, because everybody was recounted since they were read; safe to repeat."""
        for name in names:
            key: Any = {LEASES.stream_arn: {"S": LEASES.recounts()}, LEASES.shard_id: {"S": name}}
            with errors_named():
                self._dynamodb.delete_item(TableName=self._leases, Key=key)

    def _rows(self, partition: str) -> Iterator[Any]:
        pages = self._dynamodb.get_paginator("query").paginate(
            TableName=self._leases,
            ConsistentRead=True,
            KeyConditionExpression="stream_arn = :partition",
            ProjectionExpression="shard_id, #state, tip_at, gap",
            ExpressionAttributeNames={"#state": LEASES.state},
            ExpressionAttributeValues={":partition": {"S": partition}},
        )
        with errors_named():
            for page in pages:
                yield from page["Items"]


def _tip(item: Any) -> int:
    return int(item.get(LEASES.tip_at, {"N": "0"})["N"])
