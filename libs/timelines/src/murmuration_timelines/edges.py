"""Until when follows and mutes are settled in Redis: whatever was written before is in whom timelines show. Pure.

Rule: the bridge says until when all that the streams have shown is on Kafka; the ends of a topic's partitions are taken
after that was read; and a partition of which all is handled up to that end is settled until then. Edges are settled
until the earliest of all partitions. What is not known is not settled.

Times are the bridge's. A reader's clock that is behind it by some seconds takes edges for settled that much longer; so
a time that lies ahead of the reader's own says nothing.
"""

from collections.abc import Mapping

from contracts import TOPICS
from contracts.tables import FOLLOWERS, MUTES

Partition = tuple[str, int]
TABLES = {"FollowChanged": FOLLOWERS.name, "MuteChanged": MUTES.name}  # a block takes follows away: it needs no topic
PARTITIONS = frozenset((topic, number) for topic in TABLES for number in range(TOPICS[topic].partitions))
LATE_SECONDS = 5.0  # then a page confirms its authors
AHEAD_SECONDS = 1.0  # that two clocks may differ by


def field_of(partition: Partition) -> str:
    """Name a partition in Redis."""
    return f"{partition[0]}/{partition[1]}"


def settled_until(fields: Mapping[str, str]) -> int:
    """Return until when (ms) all edges are settled; 0 if that is not known of some."""
    return min(int(fields.get(field_of(partition), 0)) for partition in PARTITIONS)


def are_settled(until: float, now: float) -> bool:
    """Tell whether edges that are settled until then (s) are settled well enough for a page to rest on it."""
    return -AHEAD_SECONDS <= now - until < LATE_SECONDS
