"""Makes Kafka and the registry what the topics' files say. To repeat it changes nothing."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from confluent_kafka.admin import (  # type: ignore[attr-defined]  # it exports them without saying so
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewTopic,
    ResourcePatternType,
    ResourceType,
)

from contracts.acls import Grant
from contracts.errors import ContractError
from contracts.kafka_settings import of_dead_letters, of_topic
from contracts.registry import NotRegisteredError, Registry
from contracts.topic import Topic, check_partitions

TIMEOUT_S = 10.0
METADATA_TIMEOUT_S = 2.0  # the first question, and so how soon an absent broker is reported
Say = Callable[[str], object]
_OPERATIONS = {
    "DescribeConfigs": AclOperation.DESCRIBE_CONFIGS,
    "Read": AclOperation.READ,
    "Write": AclOperation.WRITE,
}


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


def apply_topics(admin: AdminClient, topics: Iterable[Wanted], say: Say, *, dry_run: bool = False) -> bool:
    """Create what is missing, set back what has drifted, refuse what cannot be set back; return whether anything was.

    What was created can be seen when it returns: a broker hears of a topic a little after the controller made it.
    A dry run only says what it would do.
    """
    there = admin.list_topics(timeout=METADATA_TIMEOUT_S).topics
    created, drifted = set(), False
    for topic in topics:
        if topic.name in there:
            drifted |= _verify(admin, topic, there[topic.name].partitions, say, dry_run)
            continue
        created.add(topic.name)
        if not dry_run:
            new = NewTopic(topic.name, topic.partitions, topic.replication_factor, config=topic.config)
            _done(admin.create_topics([new], request_timeout=TIMEOUT_S))
        say(f"topic {topic.name}: {'to be created' if dry_run else 'created'}, {topic.partitions} partition(s)")
    deadline = time.monotonic() + TIMEOUT_S
    while not dry_run and (unseen := created - admin.list_topics(timeout=METADATA_TIMEOUT_S).topics.keys()):
        if time.monotonic() > deadline:
            names = ", ".join(sorted(unseen))
            raise TimeoutError(f"Kafka does not list {names}, created {TIMEOUT_S:.0f} s ago: run it again")
        time.sleep(0.05)
    return drifted or bool(created)


def allow(admin: AdminClient, grants: Iterable[tuple[str, Grant]]) -> None:
    """Let each principal do what it is granted, from wherever it connects."""
    wanted = [
        AclBinding(
            ResourceType[grant.resource.upper()],
            grant.name,
            ResourcePatternType.PREFIXED if grant.prefixed else ResourcePatternType.LITERAL,
            principal,
            "*",
            _OPERATIONS[grant.operation],
            AclPermissionType.ALLOW,
        )
        for principal, grant in grants
    ]
    for future in admin.create_acls(wanted, request_timeout=TIMEOUT_S).values():
        future.result()


def _verify(admin: AdminClient, topic: Wanted, partitions: dict[int, Any], say: Say, dry_run: bool) -> bool:
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
    if not drifted:
        say(f"topic {topic.name}: already there")
        return False
    if dry_run:
        was = ", ".join(f"{name}={value}, Kafka has {actual[name].value}" for name, value in drifted.items())
        say(f"topic {topic.name}: to be set back {was}")
        return True
    entries = [ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET) for name, value in drifted.items()]
    resource = ConfigResource(ResourceType.TOPIC, topic.name, incremental_configs=entries)
    _done(admin.incremental_alter_configs([resource], request_timeout=TIMEOUT_S))
    say(f"topic {topic.name}: set back {', '.join(f'{name}={value}' for name, value in drifted.items())}")
    return True


def _done(futures: dict[Any, Any]) -> Any:
    (future,) = futures.values()
    return future.result()


def apply_subject(registry: Registry, topic: Topic, say: Say, *, dry_run: bool = False) -> bool:
    """Register every version in order, held to the topic's compatibility from the second on; True if any was new."""
    subject, changed = registry.subject(topic), False
    for version in topic.versions:
        try:
            registry.id_of(topic, version)
            outcome = "already there"
        except NotRegisteredError:
            changed = True
            if dry_run:
                say(f"subject {subject}: version {version.number} to be registered")
                continue
            _register(registry, topic, version.schema)
            outcome = "registered"
        say(f"subject {subject}: version {version.number} {outcome}, id {registry.id_of(topic, version)}")
        if registry.compatibility(subject) != topic.compatibility:  # some registries want a version first
            changed = True
            if not dry_run:
                registry.hold_to(subject, topic.compatibility)
            say(f"subject {subject}: compatibility {'to be ' if dry_run else ''}set to {topic.compatibility}")
    return changed


def _register(registry: Registry, topic: Topic, schema: str) -> None:
    try:
        registry.register(registry.subject(topic), schema)
    except ContractError as error:
        raise ContractError(f"the registry refuses a version of {topic.subject} ({topic.hits}): {error}") from error
