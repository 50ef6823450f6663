"""Topics and groups in Kafka, as operators change them: limits, ends, where a group stands; and what comes."""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, KafkaException, TopicPartition
from confluent_kafka.admin import (  # type: ignore[attr-defined]
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    OffsetSpec,
    ResourceType,
)

from contracts import TOPICS
from murmuration_runtime.kafka_connection import KafkaSettings
from murmuration_runtime.settings import read
from murmuration_testkit.waiting import eventually


def admin() -> AdminClient:
    """Connect; keep what this returns in a variable for as long as it works."""
    return AdminClient(read(KafkaSettings).librdkafka(log_level=2))


def ends(kafka: AdminClient, topic: str) -> dict[int, int]:
    """Return the offset after the last message of each of the topic's partitions."""
    latest: Any = OffsetSpec.latest()  # type: ignore[no-untyped-call]
    asked = {TopicPartition(topic, number): latest for number in range(TOPICS[topic].partitions)}
    return {place.partition: future.result().offset for place, future in kafka.list_offsets(asked).items()}


def skip(group: str, topic: str) -> None:
    """Move a group without members to the topic's end."""
    kafka = admin()
    move(kafka, group, topic, ends(kafka, topic))


def move(kafka: AdminClient, group: str, topic: str, offsets: dict[int, int]) -> None:
    """Move a group to these offsets, when it has no members any more: a killed one stays for its session's time."""
    wanted = [TopicPartition(topic, number, offset) for number, offset in offsets.items()]

    def moved() -> bool:
        (future,) = kafka.alter_consumer_group_offsets([ConsumerGroupTopicPartitions(group, wanted)]).values()
        return future.exception() is None

    eventually(moved, True, within=60, every=0.5)


@contextmanager
def largest_batch(topic: str, size: int) -> Iterator[None]:
    """Let Kafka take no larger batches of bytes for the topic, for as long as the context lasts."""
    kafka = admin()

    def alter(size: int) -> None:
        entry = ConfigEntry("max.message.bytes", str(size), incremental_operation=AlterConfigOpType.SET)
        resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=[entry])
        for future in kafka.incremental_alter_configs([resource]).values():
            future.result(10)

    alter(size)
    try:
        yield
    finally:
        alter(TOPICS[topic].max_message_bytes)


class Tap:
    """What comes to topics from now on."""

    def __init__(self, *topics: str) -> None:
        self._consumer = Consumer(
            read(KafkaSettings).librdkafka(
                **{"group.id": uuid.uuid4().hex, "enable.auto.commit": False},
                log_level=2,  # a broker that is away is what a drill wanted
            )
        )
        known = {topic: self._consumer.list_topics(topic, 10).topics[topic].partitions for topic in topics}
        places = [TopicPartition(topic, number) for topic, numbers in known.items() for number in numbers]
        for place in places:
            place.offset = self._consumer.get_watermark_offsets(place, 10)[1]
        self._consumer.assign(places)

    def read(self, seconds: float, at_most: int = 1000) -> list[Any]:
        """Return what comes, waiting at most so long for it to be so many."""
        messages = self._consumer.consume(at_most, seconds)
        with suppress(KafkaException):  # a broker that is away is met again as silence
            return [message for message in messages if message.error() is None]
        return []

    def close(self) -> None:
        """Leave."""
        self._consumer.close()
