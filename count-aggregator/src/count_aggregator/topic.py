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


def ancestors(partition_id: str) -> list[str]:
    """Return the ledger's names of the partitions where this one's keys lay before the topic grew."""
    number = int(partition_id.rpartition("/")[2])
    return [f"{name}/{lay}" for name, lay in TOPIC.ancestors(number)]


_NOW = [partition_id(number) for number in range(TOPIC.partitions)]
PARTITION_IDS = tuple(dict.fromkeys([*_NOW, *(before for each in _NOW for before in ancestors(each))]))
"""All that the ledger may have gaps of, whatever the topic grew from included."""
