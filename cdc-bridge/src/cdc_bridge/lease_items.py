"""Rows as items of the leases table, and back. Pure: no clock, no I/O."""

from typing import Any

from cdc_bridge.lineage import Row, State


def row_of(item: dict[str, Any]) -> Row:
    """Make a row of an item."""
    return Row(
        shard_id=item["shard_id"]["S"],
        state=State(item["state"]["S"]),
        position=item["position"]["S"] if "position" in item else None,
        owner=item["owner"]["S"] if "owner" in item else None,
        epoch=int(item["epoch"]["N"]) if "epoch" in item else 0,
        expires_at=int(item["expires_at"]["N"]) if "expires_at" in item else 0,
        since=int(item["since"]["N"]) if "since" in item else 0,
        tip_at=int(item["tip_at"]["N"]) if "tip_at" in item else 0,
        gap=item["gap"]["S"] if "gap" in item else None,
    )


def item_of(stream_arn: str, row: Row) -> dict[str, Any]:
    """Make an item of a row in this partition; what is None is left out."""
    texts = {
        "stream_arn": stream_arn,
        "shard_id": row.shard_id,
        "state": row.state,
        "position": row.position,
        "owner": row.owner,
        "gap": row.gap,
    }
    numbers = {"epoch": row.epoch, "expires_at": row.expires_at, "since": row.since, "tip_at": row.tip_at}
    written = {name: {"S": str(text)} for name, text in texts.items() if text is not None}
    return written | {name: {"N": str(number)} for name, number in numbers.items()}
