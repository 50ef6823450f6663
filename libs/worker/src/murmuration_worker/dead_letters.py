"""The topics' .dlq: messages that cannot be processed, as they came, with reason and place in their headers.

Rule: a letter that was sent is in Kafka, and its header `consumer` names the service that could not process it; another
one may have processed the same message. How letters are handled again: letters.py.
"""

import logging

from confluent_kafka import KafkaError, KafkaException, Producer

from contracts import Topic
from murmuration_runtime.kafka_connection import KafkaSettings
from murmuration_worker.messages import Message

CONSUMER = "consumer"
_log = logging.getLogger(__name__)


class DeadLetters:
    """Where messages go that a service cannot process. Safe among threads."""

    def __init__(self, kafka: KafkaSettings, service: str) -> None:
        self._kafka = kafka
        self._service = service
        settings = kafka.librdkafka(**{"enable.idempotence": True, "message.timeout.ms": 0})
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
            (CONSUMER, self._service),
        ]
        self._producer.produce(
            self._kafka.topic_name(topic.dlq),
            key=message.key,
            value=message.value,
            headers=headers,
            on_delivery=lambda error, _: told.append(error),
        )
        while not told:
            self._producer.poll(1)
        if told[0] is not None:
            raise KafkaException(told[0])
