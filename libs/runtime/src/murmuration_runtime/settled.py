"""Until when topics are settled in a Redis: whatever was written to their tables before is in what is read there. Pure.

Rule: the bridge says until when all that the streams have shown is on Kafka; the ends of a topic's partitions are taken
after that was read; and a partition of which all is handled up to that end is settled until then. All are settled
until the earliest of them. What is not known is not settled.

Times are the bridge's. A reader's clock that is behind it by some seconds takes topics for settled that much longer; so
a time that lies ahead of the reader's own says nothing.
"""

from collections.abc import Iterable, Mapping

Partition = tuple[str, int]
LATE_SECONDS = 5.0  # then nobody rests on what is in that Redis
AHEAD_SECONDS = 1.0  # that two clocks may differ by


def field_of(partition: Partition) -> str:
    """Name a partition in Redis."""
    return f"{partition[0]}/{partition[1]}"


def settled_until(partitions: Iterable[Partition], fields: Mapping[str, str]) -> int:
    """Return until when (ms) all partitions are settled; 0 if that is not known of some."""
    return min(int(fields.get(field_of(partition), 0)) for partition in partitions)


def are_settled(until: float, now: float) -> bool:
    """Tell whether topics that are settled until then (s) are settled well enough to rest on it."""
    return -AHEAD_SECONDS <= now - until < LATE_SECONDS
