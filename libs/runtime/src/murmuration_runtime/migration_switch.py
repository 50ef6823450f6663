"""Whether a migration of a table is switched: looked up now and then, until it is."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from contracts.tables import MIGRATIONS
from murmuration_runtime.dynamo import errors_named

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

LOOK_S = 5.0  # between two looks


class MigrationSwitch:
    """Says whether code that knows two ways goes the new one yet; a switch is never taken back."""

    def __init__(
        self,
        dynamodb: "DynamoDBClient",
        table_prefix: str,
        migration: str,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._dynamodb = dynamodb
        self._table = f"{table_prefix}{MIGRATIONS.name}"
        self._migration = migration
        self._monotonic = monotonic
        self._is_on: bool | None = None
        self._look_at = 0.0

    def __call__(self) -> bool:
        """Say so, by what the table said a few seconds ago at most."""
        if not self._is_on and ((now := self._monotonic()) >= self._look_at or self._is_on is None):
            self._look_at = now + LOOK_S  # whatever comes of it: others go on with what was known, if anything was
            with errors_named():
                answer = self._dynamodb.get_item(
                    TableName=self._table,
                    Key={MIGRATIONS.migration: {"S": self._migration}},
                    ProjectionExpression=MIGRATIONS.switched_at,
                    ConsistentRead=True,
                )
            self._is_on = MIGRATIONS.switched_at in answer.get("Item", {})
        return self._is_on
