"""What Kafka is told of each topic. Pure."""

from contracts.topic import Topic

LATEST_AHEAD_MS = 3_600_000  # how far a producer's clock may be ahead of Kafka's


def of_topic(topic: Topic, replication_factor: int) -> dict[str, str]:
    """Return the settings of a topic; with fewer replicas than its contract's, fewer acknowledge."""
    return {
        "cleanup.policy": "delete",
        "max.message.bytes": str(topic.max_message_bytes),
        "message.timestamp.after.max.ms": str(LATEST_AHEAD_MS),
        "message.timestamp.type": "CreateTime",  # a copy that waits in a bridge for Kafka is as old as it is
        "min.insync.replicas": str(min(topic.min_insync_replicas, replication_factor)),
        "retention.bytes": "-1",  # else a broker's default could end it before its time
        "retention.ms": str(topic.retention_ms),
        "segment.ms": str(topic.segment_ms),
        "unclean.leader.election.enable": "false",  # what was acknowledged stays
    }


def of_dead_letters(topic: Topic, replication_factor: int) -> dict[str, str]:
    """Return the settings of the topic for its dead letters: the same, but for how long they are kept."""
    return of_topic(topic, replication_factor) | {"retention.ms": str(topic.dead_letters.retention_ms)}
