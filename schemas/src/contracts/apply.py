"""Makes Kafka and the registry what the topics' files say. To repeat it changes nothing."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from confluent_kafka.admin import (  # type: ignore[attr-defined]  # it exports them without saying so
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewTopic,
    ResourceType,
)

from contracts.errors import ContractError
from contracts.kafka_settings import of_dead_letters, of_topic
from contracts.registry import NotRegisteredError, Registry
from contracts.topic import Topic, check_partitions

TIMEOUT_S = 10.0
METADATA_TIMEOUT_S = 2.0  # the first question, and so how soon an absent broker is reported
Say = Callable[[str], object]


@dataclass(frozen=True)
class Wanted:
    """One Kafka topic as it shall be."""

    name: str
    partitions: int
    replication_factor: int
    config: dict[str, str]


def wanted(topic: Topic, replication_factor: int) -> tuple[Wanted, Wanted]:
    """Return the topic and the one for its dead letters."""
    dead, factor = topic.dead_letters, replication_factor
    return (
        Wanted(topic.name, topic.partitions, factor, of_topic(topic, factor)),
        Wanted(topic.dlq, dead.partitions, factor, of_dead_letters(topic, factor)),
    )


def apply_topics(admin: AdminClient, topics: Iterable[Wanted], say: Say) -> None:
    """Create what is missing, set back what has drifted, and refuse what cannot be set back.

    What was created can be seen when it returns: a broker hears of a topic a little after the controller made it.
    """
    there = admin.list_topics(timeout=METADATA_TIMEOUT_S).topics
    created = set()
    for topic in topics:
        if topic.name in there:
            _verify(admin, topic, there[topic.name].partitions, say)
        else:
            new = NewTopic(topic.name, topic.partitions, topic.replication_factor, config=topic.config)
            _done(admin.create_topics([new], request_timeout=TIMEOUT_S))
            say(f"topic {topic.name}: created, {topic.partitions} partition(s)")
            created.add(topic.name)
    deadline = time.monotonic() + TIMEOUT_S
    while unseen := created - admin.list_topics(timeout=METADATA_TIMEOUT_S).topics.keys():
        if time.monotonic() > deadline:
            names = ", ".join(sorted(unseen))
            raise TimeoutError(f"Kafka does not list {names}, created {TIMEOUT_S:.0f} s ago: run it again")
        time.sleep(0.05)


def _verify(admin: AdminClient, topic: Wanted, partitions: dict[int, Any], say: Say) -> None:
    check_partitions(topic.name, topic.partitions, len(partitions))
    copies = min(len(partition.replicas) for partition in partitions.values())
    if copies < topic.replication_factor:
        raise ContractError(
            f"topic {topic.name} has {copies} replicas, not {topic.replication_factor}: "
            "reassign its partitions with kafka-reassign-partitions"
        )
    resource = ConfigResource(ResourceType.TOPIC, topic.name)
    actual = _done(admin.describe_configs([resource], request_timeout=TIMEOUT_S))
    drifted = {name: value for name, value in topic.config.items() if actual[name].value != value}
    if drifted:
        entries = [
            ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET) for name, value in drifted.items()
        ]
        resource = ConfigResource(ResourceType.TOPIC, topic.name, incremental_configs=entries)
        _done(admin.incremental_alter_configs([resource], request_timeout=TIMEOUT_S))
        say(f"topic {topic.name}: set back {', '.join(f'{name}={value}' for name, value in drifted.items())}")
    else:
        say(f"topic {topic.name}: already there")


def _done(futures: dict[Any, Any]) -> Any:
    (future,) = futures.values()
    return future.result()


def apply_subject(registry: Registry, topic: Topic, say: Say) -> None:
    """Register every version in order, held to the topic's compatibility from the second one on."""
    for version in topic.versions:
        try:
            registry.id_of(topic, version)
            outcome = "already there"
        except NotRegisteredError:
            _register(registry, topic, version.schema)
            outcome = "registered"
        say(f"subject {topic.subject}: version {version.number} {outcome}, id {registry.id_of(topic, version)}")
        if registry.compatibility(topic.subject) != topic.compatibility:  # some registries want a version first
            registry.hold_to(topic.subject, topic.compatibility)
            say(f"subject {topic.subject}: compatibility set to {topic.compatibility}")


def _register(registry: Registry, topic: Topic, schema: str) -> None:
    try:
        registry.register(topic.subject, schema)
    except ContractError as error:
        hits = ", ".join(topic.consumers)
        raise ContractError(f"the registry refuses a version of {topic.subject} (hits {hits}): {error}") from error
