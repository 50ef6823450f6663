"""The rows of a table, page by page, strongly consistent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cdc_bridge.dynamo_errors import errors_about

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from mypy_boto3_dynamodb import DynamoDBClient

PAGE = 1_000


class Rows:
    """Reads whole tables, at a pace."""

    def __init__(self, dynamodb: DynamoDBClient, table_prefix: str, pace: Callable[[], object]) -> None:
        """Take what to call before each page."""
        self._dynamodb = dynamodb
        self._prefix = table_prefix
        self._pace = pace

    def page(
        self, table: str, attributes: Sequence[str], after: Mapping[str, Any] | None
    ) -> tuple[Sequence[Mapping[str, Any]], Mapping[str, Any] | None]:
        """Return the next rows behind a key, and the last key; None instead of it at the end."""
        self._pace()
        request: dict[str, Any] = {"ExclusiveStartKey": after} if after else {}
        names = {f"#{number}": name for number, name in enumerate(attributes)}
        with errors_about(f"table {self._prefix}{table}"):
            answer = self._dynamodb.scan(
                TableName=self._prefix + table,
                ConsistentRead=True,
                Limit=PAGE,
                Select="SPECIFIC_ATTRIBUTES",
                ProjectionExpression=", ".join(names),
                ExpressionAttributeNames=names,
                **request,
            )
        return answer["Items"], answer.get("LastEvaluatedKey")
