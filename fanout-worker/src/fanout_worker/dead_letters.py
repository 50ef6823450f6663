"""The topic's .dlq: what cannot be processed, as it came, with why and whence in its headers."""

import logging

from confluent_kafka import KafkaError, KafkaException, Producer

from contracts import Topic
from fanout_worker.inbox import Message, pairs

_log = logging.getLogger(__name__)


class KafkaDeadLetters:
    """The topic's .dlq."""

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
