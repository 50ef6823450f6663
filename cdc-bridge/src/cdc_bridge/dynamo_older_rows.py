"""What a table says about itself: whether it has rows that its stream never told of."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

from cdc_bridge.dynamo_errors import errors_about
from cdc_bridge.lineage import RETENTION_MS

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

_TOGETHER = dt.timedelta(seconds=10)  # a table and its stream, made by one call


def may_have_older_rows(dynamodb: DynamoDBClient, table: str, stream_arn: str, now: int) -> bool:
    """Say whether the table has rows, and its stream is younger than it or has forgotten its beginning."""
    with errors_about(f"table {table}"):
        if not dynamodb.scan(TableName=table, Limit=1, ConsistentRead=True, Select="COUNT")["Count"]:
            return False
        table_made = dynamodb.describe_table(TableName=table)["Table"]["CreationDateTime"]
    stream_made = dt.datetime.fromisoformat(stream_arn.rpartition("/stream/")[2]).replace(tzinfo=dt.UTC)
    oldest_kept = dt.datetime.fromtimestamp((now - RETENTION_MS) / 1000, dt.UTC)
    return stream_made > table_made + _TOGETHER or stream_made < oldest_kept
