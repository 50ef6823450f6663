"""The topic that is counted, and what its partitions are called in the ledger. Pure."""

from contracts import TOPICS

SERVICE = "count-aggregator"  # also the consumer group
TOPIC = TOPICS["FollowChanged"]

KEPT_SECONDS = TOPIC.remembered_ms // 1000
"""How long a shard's watermark is kept after its last write."""


def partition_id(number: int) -> str:
    """Return the ledger's name of a partition."""
    return f"{TOPIC.name}/{number}"


PARTITION_IDS = tuple(map(partition_id, range(TOPIC.partitions)))
