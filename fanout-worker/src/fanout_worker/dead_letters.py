"""The topic's .dlq: what cannot be processed, as it came, with why and whence in its headers."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition

from contracts import Topic
from fanout_worker.deliveries import StoreAwayError
from fanout_worker.inbox import Message, pairs

SETTLED = "fanout-worker.dead-letters"  # the group whose offsets say what was settled
TIMEOUT_S = 10.0
_log = logging.getLogger(__name__)


class KafkaDeadLetters:
    """Where the worker sends them."""

    def __init__(self, bootstrap_servers: str, topic: Topic) -> None:
        self._topic = topic
        settings = {"bootstrap.servers": bootstrap_servers, "enable.idempotence": True, "message.timeout.ms": 0}
        self._producer = Producer(settings, logger=_log)

    def bury(self, message: Message, reason: str) -> None:
        """Send the message as it came, with why and whence in its headers; return when Kafka has it."""
        told: list[KafkaError | None] = []
        headers: list[tuple[str, str | bytes | None]] = [
            *pairs(message.headers),
            ("reason", reason),
            ("topic", self._topic.name),
            ("partition", str(message.partition)),
            ("offset", str(message.offset)),
        ]
        self._producer.produce(
            self._topic.dlq,
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
    """Whom a letter names in its headers, and where it lies."""

    ids: dict[str, str]
    place: str


class Unsettled:
    """The letters since the last that were settled."""

    def __init__(self, consumer: Consumer, dlq: str, partitions: int) -> None:
        self._consumer = consumer
        self._dlq = dlq
        self._partitions = range(partitions)
        self._ends: list[TopicPartition] = []

    def read(self) -> Iterator[Letter]:
        """Give each letter, in order."""
        asked = [TopicPartition(self._dlq, partition) for partition in self._partitions]
        for place in self._consumer.committed(asked, timeout=TIMEOUT_S):
            start, end = self._consumer.get_watermark_offsets(place, timeout=TIMEOUT_S)
            place.offset = max(start, place.offset)  # nothing settled yet is a negative offset
            self._ends.append(TopicPartition(self._dlq, place.partition, end))
            self._consumer.assign([place])
            while place.offset < end:
                letter = self._consumer.poll(TIMEOUT_S)
                if letter is None or letter.error():
                    raise KafkaException(letter.error() if letter else KafkaError(KafkaError._TIMED_OUT))  # noqa: SLF001
                place.offset = (letter.offset() or 0) + 1
                headers = pairs(letter.headers())
                ids = {
                    name: value.decode(errors="replace") for name, value in headers if value and name.endswith("_id")
                }
                yield Letter(ids, f"{self._dlq}/{place.partition} offset {letter.offset()}")

    def settle(self) -> None:
        """Remember that all that were read are settled."""
        self._consumer.commit(offsets=self._ends, asynchronous=False)


@contextmanager
def unsettled(bootstrap_servers: str, topic: Topic) -> Iterator[Unsettled]:
    """Open the topic's .dlq for as long as the context lasts."""
    consumer = Consumer({"bootstrap.servers": bootstrap_servers, "group.id": SETTLED, "enable.auto.commit": False})
    try:
        yield Unsettled(consumer, topic.dlq, topic.dead_letters.partitions)
    except KafkaException as error:
        raise StoreAwayError(f"Kafka at {bootstrap_servers} did not answer: {error}") from error
    finally:
        consumer.close()
