"""What Kafka is told of each topic, and what releases of this package told it. Pure but for the file of the releases.

Rule: whoever rests on a setting rests on what Kafka was last told. So a topic's file says what the last release that
touched the topic says, or `check` refuses it: nobody changes a setting without a release that names the change.
"""

from collections.abc import Mapping
from pathlib import Path

import yaml

from contracts.errors import ContractError
from contracts.topic import COMPACT, DELETE, Topic

LATEST_AHEAD_MS = 3_600_000  # how far a producer's clock may be ahead of Kafka's


def of_topic(topic: Topic, replication_factor: int) -> dict[str, str]:
    """Return the settings of a topic; with fewer replicas than its contract's, fewer acknowledge."""
    return _kept_as_any(topic, replication_factor) | (
        _last_states(topic) if topic.is_compacted else _for(topic.retention_ms)
    )


def of_dead_letters(topic: Topic, replication_factor: int) -> dict[str, str]:
    """Return the settings of the topic for its dead letters; they are kept for a time of their own."""
    return _kept_as_any(topic, replication_factor) | _for(topic.dead_letters.retention_ms)


def _kept_as_any(topic: Topic, replication_factor: int) -> dict[str, str]:
    return {
        "max.message.bytes": str(topic.max_message_bytes),
        "message.timestamp.after.max.ms": str(LATEST_AHEAD_MS),
        "message.timestamp.type": "CreateTime",  # a copy that waits in a bridge for Kafka is as old as it is
        "min.insync.replicas": str(min(topic.min_insync_replicas, replication_factor)),
        "segment.ms": str(topic.segment_ms),
        "unclean.leader.election.enable": "false",  # what was acknowledged stays
    }


def _for(retention_ms: int) -> dict[str, str]:
    return {
        "cleanup.policy": DELETE,
        "retention.bytes": "-1",  # else a broker's default could end it before its time
        "retention.ms": str(retention_ms),
    }


def _last_states(topic: Topic) -> dict[str, str]:
    return {
        "cleanup.policy": COMPACT,
        "delete.retention.ms": str(topic.retention_ms),  # of tombstones; whoever reads from the beginning has so long
        "max.compaction.lag.ms": str(topic.segment_ms),  # else what somebody deleted could stay for as long as it likes
    }


def check(topics: Mapping[str, Topic], data: Path) -> int:
    """Pass if the topics' files say what the last releases said, and return how many settings there are."""
    released: dict[str, dict[str, tuple[str, str]]] = {}
    for release, changed in yaml.safe_load((data / "settings.yaml").read_text("utf-8")).items():
        for name, settings in changed.items():
            released[name] = {each: (str(value), release) for each, value in settings.items()}
    wanted = {name: settings for topic in topics.values() for name, settings in told(topic).items()}
    for name, settings in wanted.items():
        for each in sorted(settings.keys() | released.get(name, {}).keys()):
            (said, release), says = released.get(name, {}).get(each, ("nothing", "any release")), settings.get(each)
            if said != says:
                raise ContractError(
                    f"topic {name}: {each} is {says or 'not set'}, and {release} told Kafka {said}: a change is a new "
                    "version of event-contracts, with a line in CHANGELOG.md and an entry in settings.yaml"
                )
    grown = {name for topic in topics.values() for name, _ in topic.ancestors(0)}
    if gone := released.keys() - wanted.keys() - grown - {f"{name}.dlq" for name in grown}:
        raise ContractError(f"settings.yaml: no topic's file is there for {', '.join(sorted(gone))}")
    return sum(map(len, wanted.values()))


def told(topic: Topic) -> dict[str, dict[str, str]]:
    """Return what Kafka is told of a topic and of its dead letters, by their names."""
    factor = {"replication_factor": str(topic.replication_factor)}
    return {
        topic.name: {"partitions": str(topic.partitions), **factor, **of_topic(topic, topic.replication_factor)},
        topic.dlq: {
            "partitions": str(topic.dead_letters.partitions),
            **factor,
            **of_dead_letters(topic, topic.replication_factor),
        },
    }
