"""What DescribeTable answers."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from murmuration_testkit.unkind_aws.table import Table


def described(table: Table) -> dict[str, Any]:
    """Describe a table; it is always active."""
    stream = table.stream
    indexes = [
        {
            "IndexName": index.name,
            "KeySchema": _schema(index.key),
            "Projection": index.projection,
            "IndexStatus": "ACTIVE",
        }
        for index in table.indexes.values()
    ]
    with_stream = (
        {
            "StreamSpecification": {"StreamEnabled": True, "StreamViewType": stream.view},
            "LatestStreamArn": stream.arn,
            "LatestStreamLabel": stream.label,
        }
        if stream
        else {}
    )
    return {
        "TableName": table.name,
        "TableStatus": "ACTIVE",
        "TableArn": f"arn:aws:dynamodb:eu-central-1:000000000000:table/{table.name}",
        "CreationDateTime": dt.datetime.fromtimestamp(table.made_at, dt.UTC),
        "KeySchema": _schema(table.key),
        "AttributeDefinitions": [{"AttributeName": name, "AttributeType": kind} for name, kind in table.kinds.items()],
        "ItemCount": len(table.rows()),
        **with_stream,
        **({"GlobalSecondaryIndexes": indexes} if indexes else {}),
    }


def _schema(key: tuple[str, ...]) -> list[dict[str, str]]:
    return [{"AttributeName": name, "KeyType": kind} for name, kind in zip(key, ("HASH", "RANGE"), strict=False)]
