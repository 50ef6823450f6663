"""The topic that is counted, and what its partitions are called in the ledger. Pure."""

from contracts import TOPICS

SERVICE = "count-aggregator"  # also the consumer group
TOPIC = TOPICS["FollowChanged"]

KEPT_SECONDS = TOPIC.remembered_ms // 1000
"""How long a shard's watermark is kept after its last write."""
TOO_OLD_MS = TOPIC.too_old_ms
"""The age from which an event may have been counted under a watermark that is gone."""


def partition_id(number: int) -> str:
    """Return the ledger's name of a partition."""
    return f"{TOPIC.name}/{number}"


PARTITION_IDS = tuple(map(partition_id, range(TOPIC.partitions)))
