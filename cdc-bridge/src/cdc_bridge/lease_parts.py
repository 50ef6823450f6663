"""Where the row of a shard lies: under its stream's own key, or in one of the stream's 16 parts. Pure.

Rule: while the migration spread-leases is under way, bridges up to 0.2.0 know only the old place. So a row that lies in
a part has one in the old place that no such bridge takes, and both are written together or not at all. The condition on
the old place is what keeps two bridges, which disagree whether the switch has come, from reading one shard.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from cdc_bridge.lease_items import item_of
from cdc_bridge.lineage import Row
from contracts.migrations.spread_leases import is_old_place, left_behind
from contracts.tables import LEASES, MIGRATIONS

Item = Mapping[str, Any]
Write = dict[str, Any]  # one of TransactWriteItems
NEW: dict[str, Any] = {
    "ConditionExpression": "attribute_not_exists(#epoch)",
    "ExpressionAttributeNames": {"#epoch": LEASES.epoch},
}


@dataclass(frozen=True, slots=True)
class Layout:
    """How far the migration has come, by its row."""

    is_spread: bool = False  # new rows lie in parts, and old ones move there
    is_over: bool = False  # no bridge up to 0.2.0 runs any more

    @classmethod
    def of(cls, migration: Item) -> "Layout":
        """Read it."""
        return cls(MIGRATIONS.switched_at in migration, MIGRATIONS.contracted_at in migration)

    def place_of(self, stream_arn: str, shard_id: str) -> str:
        """Return the partition in which a new row lies."""
        is_part = self.is_spread and is_old_place(stream_arn)
        return LEASES.part_of(stream_arn, shard_id) if is_part else stream_arn


def moves(table: str, row: Row, becomes: Row, same: dict[str, Any]) -> list[Write]:
    """Return the writes that bring a row from its old place, where it is still the `same`, to its part."""
    part = LEASES.part_of(row.part, row.shard_id)
    left = left_behind(item_of(row.part, row), part)
    return [
        {"Put": {"TableName": table, "Item": left, **same}},
        {"Put": {"TableName": table, "Item": item_of(part, replace(becomes, part=part)), **NEW}},
    ]


def begins(table: str, stream_arn: str, row: Row) -> list[Write]:
    """Return the writes that make a new row in its part and take its old place."""
    return moves(table, replace(row, part=stream_arn), row, NEW)
