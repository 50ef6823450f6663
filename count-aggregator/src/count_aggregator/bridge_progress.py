"""How far the bridge has published, by its table `leases`: schemas/tables says what a row means."""

from typing import TYPE_CHECKING, Any

import boto3

from contracts.tables import FOLLOWERS, LEASES
from murmuration_runtime.dynamo import errors_named
from murmuration_runtime.throttling import count_throttling

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodbstreams import DynamoDBStreamsClient


class BridgeProgress:
    """What the bridge says of the stream of followers."""

    def __init__(self, dynamodb: "DynamoDBClient", streams: "DynamoDBStreamsClient", table_prefix: str) -> None:
        self._dynamodb = dynamodb
        self._streams = streams
        self._prefix = table_prefix

    def published_until(self) -> int:
        """Return the moment (ms) before which whatever was committed is published: that of the shard furthest behind.

        A shard that the bridge does not know yet counts as not begun.
        """
        with errors_named():
            table = self._dynamodb.describe_table(TableName=f"{self._prefix}{FOLLOWERS.name}")["Table"]
            stream_arn = table["LatestStreamArn"]
            shards = self._shards(stream_arn)  # first the shards, then the rows: what was born between has no row
            rows = self._rows(stream_arn)
        reading = [shard for shard in shards if rows.get(shard, {}).get(LEASES.state, {}).get("S") != LEASES.ENDED]
        return min((int(rows.get(shard, {}).get(LEASES.tip_at, {"N": "0"})["N"]) for shard in reading), default=0)

    def _shards(self, stream_arn: str) -> list[str]:
        found: list[str] = []
        after: dict[str, str] = {}
        while True:
            answer = self._streams.describe_stream(StreamArn=stream_arn, **after)["StreamDescription"]  # type: ignore[arg-type]
            found += [shard["ShardId"] for shard in answer["Shards"]]
            if "LastEvaluatedShardId" not in answer:
                return found
            after = {"ExclusiveStartShardId": answer["LastEvaluatedShardId"]}

    def _rows(self, stream_arn: str) -> dict[str, Any]:
        pages = self._dynamodb.get_paginator("query").paginate(
            TableName=f"{self._prefix}{LEASES.name}",
            ConsistentRead=True,
            KeyConditionExpression="stream_arn = :stream_arn",
            ExpressionAttributeValues={":stream_arn": {"S": stream_arn}},
        )
        return {item[LEASES.shard_id]["S"]: item for page in pages for item in page["Items"]}


def streams_client() -> "DynamoDBStreamsClient":
    """Build the client of the streams; boto3's own retries will do."""
    return count_throttling(boto3.client("dynamodbstreams"))
