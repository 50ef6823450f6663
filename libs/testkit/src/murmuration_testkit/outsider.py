"""What a consumer outside may do with Kafka and the registry, tried: `python -m murmuration_testkit.outsider`.

Run it with a reader's settings, who was granted some topics by `python -m contracts acls --reader NAME:TOPIC,…`:
    python -m murmuration_testkit.outsider NAME TOPIC,…
It reads these topics, and tries all else. A line for each thing that is not as it should be; the exit code is 1 then.
"""

import sys
import time
from collections.abc import Iterator
from typing import Any

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, KafkaException, Producer, TopicPartition

from contracts import TOPICS, Topic
from contracts.registry import RegistryAwayError
from murmuration_runtime.registry_connection import RegistrySettings
from murmuration_runtime.settings import read

WITHIN_S = 30.0
NO_TOPIC, NO_GROUP = KafkaError.TOPIC_AUTHORIZATION_FAILED, KafkaError.GROUP_AUTHORIZATION_FAILED


def faults(settings: RegistrySettings, name: str, stems: list[str]) -> Iterator[str]:
    """Name what it may not do and should, and what it may do and should not."""
    group = settings.group_name(f"{name}.tries")
    for stem in stems:
        try:
            _read(settings, group, TOPICS[stem])
        except KafkaException as error:
            yield f"{stem} cannot be read: {error}"
    closed = [topic.name for stem, topic in TOPICS.items() if stem not in stems]
    for each in (*closed, *(topic.dlq for topic in TOPICS.values())):
        if (code := _refusal(settings, group, settings.topic_name(each))) != NO_TOPIC:
            yield f"{each} can be read: {code}"
    for topic in TOPICS.values():
        if (code := _refusal_to_write(settings, settings.topic_name(topic.name))) != NO_TOPIC:
            yield f"{topic.name} can be written: {code}"
    for service in sorted({service for topic in TOPICS.values() for service in topic.consumers}):
        code = _refusal(settings, settings.group_name(service), settings.topic_name(TOPICS[stems[0]].name))
        if code != NO_GROUP:
            yield f"the group of {service} can be joined: {code}"
    if told := _registry_takes(settings):
        yield told


def _registry_takes(settings: RegistrySettings) -> str | None:
    try:
        settings.registry().register("nobody-value", '"string"')
    except RegistryAwayError as error:
        return None if ": 403 " in str(error) else f"the registry does not refuse a schema as it should: {error}"
    return "the registry takes a schema"


def _read(settings: RegistrySettings, group: str, topic: Topic) -> None:
    """Read the oldest message, and commit its offset."""
    codec = settings.registry().codec(topic)
    consumer = Consumer(settings.librdkafka(**{"group.id": group, "enable.auto.commit": False}))
    for message in _first(consumer, settings.topic_name(topic.name), topic.partitions):
        if message.value() is not None:
            codec.decode(message.value())
        consumer.commit(message=message, asynchronous=False)
    consumer.close()


def _first(consumer: Consumer, topic: str, partitions: int) -> Iterator[Any]:
    """Return the oldest message of a topic, or none if it has none, once all partitions could be asked."""
    consumer.assign([TopicPartition(topic, number, OFFSET_BEGINNING) for number in range(partitions)])
    ends = sum(consumer.get_watermark_offsets(TopicPartition(topic, n), WITHIN_S)[1] for n in range(partitions))
    if ends:
        message = consumer.poll(WITHIN_S)
        if message is None:
            raise KafkaException(f"nothing came of {ends} messages")
        if error := message.error():
            raise KafkaException(error)
        yield message


def _refusal(settings: RegistrySettings, group: str, topic: str) -> int | None:
    """Return the code with which a subscription is refused; None if it is not."""
    consumer = Consumer(settings.librdkafka(**{"group.id": group}))
    consumer.subscribe([topic])
    until = time.monotonic() + WITHIN_S
    try:
        while time.monotonic() < until:
            message: Any = consumer.poll(1)
            if message is not None:
                return message.error().code() if message.error() else None
            if consumer.assignment():
                return None
    finally:
        consumer.close()
    return None


def _refusal_to_write(settings: RegistrySettings, topic: str) -> int | None:
    """Return the code with which a message is refused; None if it is not."""
    codes: list[int | None] = []
    producer = Producer(settings.librdkafka(**{"message.timeout.ms": int(WITHIN_S * 1000)}))
    producer.produce(topic, b"", on_delivery=lambda error, _: codes.append(error.code() if error else None))
    producer.flush(WITHIN_S)
    return codes[0] if codes else None


def main() -> int:
    """Try all of it."""
    name, stems = sys.argv[1], sys.argv[2].split(",")
    found = [*faults(read(RegistrySettings), name, stems)]
    for fault in found:
        print(fault)
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
