"""Which shards may be read now. Pure: no clock, no I/O.

Rule: an item's changes move from a shard to its children, so a child waits until its parent has been read to the end.
A parent that a complete listing no longer names has aged out: if we never began it, or finished it, the child may go.
If we began it and did not finish it, its rest is lost: that is a gap, and the child keeps waiting.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Shard:
    """One shard of a stream, as a listing names it."""

    shard_id: str
    parent_id: str | None


class State(StrEnum):
    """How far a shard has been read; it only moves downward."""

    OPENED = "opened"  # taken, nothing published yet: it starts at its beginning
    READING = "reading"  # everything up to its position is published
    ENDED = "ended"  # read to its end


def readable(listing: Iterable[Shard], states: Mapping[str, State]) -> list[Shard]:
    """Return the shards of a complete listing that are not finished and whose parents are."""
    shards = list(listing)
    listed = {shard.shard_id for shard in shards}

    def done(parent_id: str | None) -> bool:
        if parent_id is None:
            return True
        if parent_id in states:
            return states[parent_id] is State.ENDED
        return parent_id not in listed

    return [shard for shard in shards if states.get(shard.shard_id) is not State.ENDED and done(shard.parent_id)]


def vanished(listing: Iterable[Shard], states: Mapping[str, State]) -> set[str]:
    """Return the shards that were begun, not finished, and are gone from a complete listing: each one is a gap."""
    listed = {shard.shard_id for shard in listing}
    return {shard_id for shard_id, state in states.items() if state is not State.ENDED and shard_id not in listed}
