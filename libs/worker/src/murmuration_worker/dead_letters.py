"""The topics' .dlq: messages that cannot be processed, as they came, with reason and place in their headers.

Rule: a letter that was sent is in Kafka. A command that handles letters marks them as handled when all of it is done;
where it stands is the offsets of a group of its own, SERVICE.dead-letters.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition

from contracts import Topic
from murmuration_runtime.kafka import KafkaAwayError
from murmuration_worker.messages import Message, pairs, texts

TIMEOUT_SECONDS = 10.0
_log = logging.getLogger(__name__)


class DeadLetters:
    """Where messages go that cannot be processed. Safe among threads."""

    def __init__(self, bootstrap_servers: str) -> None:
        settings = {"bootstrap.servers": bootstrap_servers, "enable.idempotence": True, "message.timeout.ms": 0}
        self._producer = Producer(settings, logger=_log)

    def send(self, topic: Topic, message: Message, reason: str) -> None:
        """Send the message as it came, with reason and place in its headers; return when Kafka has it."""
        told: list[KafkaError | None] = []
        headers: list[tuple[str, str | bytes | None]] = [
            *message.headers,
            ("reason", reason),
            ("topic", message.topic),
            ("partition", str(message.partition)),
            ("offset", str(message.offset)),
        ]
        self._producer.produce(
            topic.dlq,
            key=message.key,
            value=message.value,
            headers=headers,
            on_delivery=lambda error, _: told.append(error),
        )
        while not told:
            self._producer.poll(1)
        if told[0] is not None:
            raise KafkaException(told[0])


@dataclass(frozen=True)
class Letter:
    """The ids in a letter's headers, and where the letter lies."""

    ids: dict[str, str]
    place: str


class UnhandledLetters:
    """A topic's letters since those that were last marked as handled."""

    def __init__(self, consumer: Consumer, topic: Topic) -> None:
        self._consumer = consumer
        self._dlq = topic.dlq
        self._partitions = range(topic.dead_letters.partitions)
        self._ends: list[TopicPartition] = []

    def read(self) -> Iterator[Letter]:
        """Give each letter, in order."""
        asked = [TopicPartition(self._dlq, partition) for partition in self._partitions]
        for place in self._consumer.committed(asked, timeout=TIMEOUT_SECONDS):
            start, end = self._consumer.get_watermark_offsets(place, timeout=TIMEOUT_SECONDS)
            place.offset = max(start, place.offset)  # nothing handled yet is a negative offset
            self._ends.append(TopicPartition(self._dlq, place.partition, end))
            self._consumer.assign([place])
            while place.offset < end:
                letter = self._consumer.poll(TIMEOUT_SECONDS)
                if letter is None:
                    raise KafkaAwayError(f"Kafka did not send the letter at {self._place(place)} in time")
                if (error := letter.error()) is not None:
                    raise KafkaException(error)
                place.offset = letter.offset() or 0
                headers = texts(pairs(letter.headers()))
                ids = {name: text for name, text in headers.items() if text and name.endswith("_id")}
                yield Letter(ids, self._place(place))
                place.offset += 1

    def mark_handled(self) -> None:
        """Remember that all that were read are handled."""
        self._consumer.commit(offsets=self._ends, asynchronous=False)

    def _place(self, where: TopicPartition) -> str:
        return f"{self._dlq}/{where.partition} offset {where.offset}"


@contextmanager
def unhandled_letters(bootstrap_servers: str, topic: Topic, service: str) -> Iterator[UnhandledLetters]:
    """Open a topic's .dlq where the service's command left off, for as long as the context lasts."""
    group = {"group.id": f"{service}.dead-letters", "enable.auto.commit": False}
    consumer = Consumer({"bootstrap.servers": bootstrap_servers, **group})
    try:
        yield UnhandledLetters(consumer, topic)
    except KafkaException as error:
        raise KafkaAwayError(
            f"Kafka at {bootstrap_servers} did not give the letters of {topic.dlq}: {error}"
        ) from error
    finally:
        consumer.close()
