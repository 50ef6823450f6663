"""The topic that is counted, and what its partitions are called in the ledger. Pure."""

from contracts import TOPICS

SERVICE = "count-aggregator"  # also the consumer group
TOPIC = TOPICS["FollowChanged"]

_DAY_SECONDS = 24 * 3600
_STREAM_RETENTION_SECONDS = _DAY_SECONDS  # DynamoDB's own
KEPT_SECONDS = TOPIC.retention_ms // 1000 + _STREAM_RETENTION_SECONDS + _DAY_SECONDS
"""How long a shard's watermark is kept after its last write: as long as anything could bring it back, and a day."""


def partition_id(number: int) -> str:
    """Return the ledger's name of a partition."""
    return f"{TOPIC.name}/{number}"


PARTITION_IDS = tuple(map(partition_id, range(TOPIC.partitions)))
