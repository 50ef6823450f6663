"""How far a migration of a table has come, by its row, read strongly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cdc_bridge.dynamo_errors import errors_about
from contracts.tables import MIGRATIONS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mypy_boto3_dynamodb import DynamoDBClient


def progress_of(dynamodb: DynamoDBClient, table_prefix: str, migration: str) -> Mapping[str, Any]:
    """Return when it was switched and contracted; nothing where there is no table of migrations yet."""
    table = table_prefix + MIGRATIONS.name
    with errors_about(f"table {table}"):
        try:
            answer = dynamodb.get_item(
                TableName=table,
                Key={MIGRATIONS.migration: {"S": migration}},
                ProjectionExpression="switched_at, contracted_at",
                ConsistentRead=True,
            )
        except dynamodb.exceptions.ResourceNotFoundException:
            return {}
    return answer.get("Item", {})
