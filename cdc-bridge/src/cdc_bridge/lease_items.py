"""Rows as items of the leases table, and back. Pure: no clock, no I/O."""

from typing import Any

from cdc_bridge.lineage import Row, State
from contracts.tables import LEASES


def row_of(item: dict[str, Any]) -> Row:
    """Make a row of an item."""
    return Row(
        shard_id=item[LEASES.shard_id]["S"],
        state=State(item[LEASES.state]["S"]),
        position=item[LEASES.position]["S"] if LEASES.position in item else None,
        owner=item[LEASES.owner]["S"] if LEASES.owner in item else None,
        epoch=int(item[LEASES.epoch]["N"]) if LEASES.epoch in item else 0,
        expires_at=int(item[LEASES.expires_at]["N"]) if LEASES.expires_at in item else 0,
        renewals=int(item[LEASES.renewals]["N"]) if LEASES.renewals in item else 0,
        since=int(item[LEASES.since]["N"]) if LEASES.since in item else 0,
        tip_at=int(item[LEASES.tip_at]["N"]) if LEASES.tip_at in item else 0,
        shown_until=int(item[LEASES.shown_until]["N"]) if LEASES.shown_until in item else 0,
        gap=item[LEASES.gap]["S"] if LEASES.gap in item else None,
        tables=frozenset(item[LEASES.tables]["SS"]) if LEASES.tables in item else frozenset(),
        part=item[LEASES.stream_arn]["S"],
    )


def key_of(part: str, shard_id: str) -> dict[str, Any]:
    """Make the key of a row in this partition."""
    return {LEASES.stream_arn: {"S": part}, LEASES.shard_id: {"S": shard_id}}


def item_of(part: str, row: Row) -> dict[str, Any]:
    """Make an item of a row in this partition; what is None is left out."""
    texts = {
        LEASES.state: row.state,
        LEASES.position: row.position,
        LEASES.owner: row.owner,
        LEASES.gap: row.gap,
    }
    numbers = {
        LEASES.epoch: row.epoch,
        LEASES.expires_at: row.expires_at,
        LEASES.renewals: row.renewals,
        LEASES.since: row.since,
        LEASES.tip_at: row.tip_at,
        LEASES.shown_until: row.shown_until,
    }
    written = {name: {"S": str(text)} for name, text in texts.items() if text is not None}
    return key_of(part, row.shard_id) | written | {name: {"N": str(number)} for name, number in numbers.items()}
