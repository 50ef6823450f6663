"""Rows of shards, from the one partition of their stream to one of its parts. Pure."""

from contracts.migrations import NotYetError, Row
from contracts.tables import LEASES

FOR_GOOD_MS = 9_999_999_999_999  # a bridge up to 0.2.0 takes no row whose lease holds


def backfill(row: Row) -> list[Row]:
    """Return the row in its part, and what is left in the old place; itself, if it does not lie there."""
    arn, shard_id = row[LEASES.stream_arn]["S"], row[LEASES.shard_id]["S"]
    owner = row.get(LEASES.owner, {}).get("S", "")
    if not is_old_place(arn) or _is_left_behind(owner):
        return [row]
    if owner:
        raise NotYetError(f"{owner} holds {shard_id}; it moves when a bridge takes it, so restart that one")
    part = LEASES.part_of(arn, shard_id)
    epoch = {"N": str(int(row.get(LEASES.epoch, {"N": "0"})["N"]) + 1)}
    moved = {**row, LEASES.stream_arn: {"S": part}, LEASES.epoch: epoch}
    return [moved, left_behind(row, part)]


def left_behind(row: Row, part: str) -> Row:
    """Return what is left in the old place: no bridge up to 0.2.0 takes it, or tells it as lost when the shard goes.

    Such a bridge passes over a shard in the state `gap` and waits with its children; only an ended one lets them go.
    """
    state = {} if row.get(LEASES.state, {}).get("S") == LEASES.ENDED else {LEASES.state: {"S": LEASES.GAP}}
    epoch = {"N": str(int(row.get(LEASES.epoch, {"N": "0"})["N"]) + 1)}
    held = {LEASES.owner: {"S": LEASES.moved_to(part)}, LEASES.expires_at: {"N": str(FOR_GOOD_MS)}}
    kept = {name: value for name, value in row.items() if name != LEASES.gap}
    return {**kept, **state, **held, LEASES.epoch: epoch}


def contract(row: Row) -> list[Row]:
    """Delete what was left behind."""
    if not is_old_place(row[LEASES.stream_arn]["S"]):
        return [row]
    if _is_left_behind(row.get(LEASES.owner, {}).get("S", "")):
        return []
    raise NotYetError(f"{row[LEASES.shard_id]['S']} still lies in its old place: an older bridge has written it")


def is_old_place(arn: str) -> bool:
    """Say whether this is a stream's own partition, and neither a part of it nor one of other rows."""
    return "/stream/" in arn and "#" not in arn


def _is_left_behind(owner: str) -> bool:
    return owner.startswith(LEASES.moved_to(""))
