"""Which shards a bridge takes, and which it gives back, so that all bridges hold about as many. Pure.

Rule: the shares of all bridges add up to the number of shards, and every bridge computes them alike from the same
names. So nobody needs to ask anybody, no shard stays free, and once the shares are held nothing moves.
"""

from collections.abc import Collection, Hashable, Mapping
from typing import Any, TypeVar

Key = TypeVar("Key", bound=Hashable)


def share(me: str, bridges: Collection[str], shards: int) -> int:
    """Return how many shards are mine: as many as anybody's, or one less."""
    names = sorted({me, *bridges})
    return shards // len(names) + (names.index(me) < shards % len(names))


def moves(me: str, bridges: Collection[str], owners: Mapping[Key, str | None]) -> tuple[list[Key], list[Key]]:
    """Say which shards to take and which to give back; owners names each shard's, None being nobody."""

    def held_by(owner: str | None) -> list[Any]:
        return sorted((key for key, other in owners.items() if other == owner), key=str)

    mine, fair = held_by(me), share(me, bridges, len(owners))
    return held_by(None)[: max(0, fair - len(mine))], mine[fair:]
