"""Rows of shards, from the one partition of their stream to one of its parts. Pure."""

from contracts.migrations import NotYetError, Row
from contracts.tables import LEASES

FOR_GOOD_MS = 9_999_999_999_999  # a bridge up to 0.2.0 takes no row whose lease holds


def backfill(row: Row) -> list[Row]:
    """Return the row in its part, and what is left in the old place; itself, if it does not lie there."""
    arn, shard_id = row[LEASES.stream_arn]["S"], row[LEASES.shard_id]["S"]
    owner = row.get(LEASES.owner, {}).get("S", "")
    if not _is_old_place(arn) or _is_left_behind(owner):
        return [row]
    if owner:
        raise NotYetError(f"{owner} holds {shard_id}; it moves when a bridge takes it, so restart that one")
    part = LEASES.part_of(arn, shard_id)
    epoch = {"N": str(int(row.get(LEASES.epoch, {"N": "0"})["N"]) + 1)}
    moved = {**row, LEASES.stream_arn: {"S": part}, LEASES.epoch: epoch}
    held = {LEASES.owner: {"S": LEASES.moved_to(part)}, LEASES.expires_at: {"N": str(FOR_GOOD_MS)}}
    return [moved, {**row, **held, LEASES.epoch: epoch}]


def contract(row: Row) -> list[Row]:
    """Delete what was left behind."""
    if not _is_old_place(row[LEASES.stream_arn]["S"]):
        return [row]
    if _is_left_behind(row.get(LEASES.owner, {}).get("S", "")):
        return []
    raise NotYetError(f"{row[LEASES.shard_id]['S']} still lies in its old place: an older bridge has written it")


def _is_old_place(arn: str) -> bool:
    return "/stream/" in arn and "#" not in arn


def _is_left_behind(owner: str) -> bool:
    return owner.startswith(LEASES.moved_to(""))
