"""The topics' .dlq: messages that cannot be processed, as they came, with reason and place in their headers.

Rule: a letter that was sent is in Kafka, and its header `consumer` names the service that could not process it; another
one may have processed the same message. What would be too large for the .dlq loses the end of its value, and says so.
How letters are handled again: letters.py.
"""

import logging
from dataclasses import dataclass

from confluent_kafka import KafkaError, KafkaException, Producer

from contracts import TOPICS, Topic
from murmuration_runtime.kafka import connect
from murmuration_runtime.kafka_connection import KafkaSettings
from murmuration_worker.messages import Headers, Message

CONSUMER = "consumer"
LARGEST = max(topic.max_message_bytes for topic in TOPICS.values())
_OVERHEAD = 100  # bytes of a batch of one message, and of the message, beside what it holds
_HEADER_OVERHEAD = 10
_NOTE = "truncated"
_NOTE_BYTES = 60  # of a header that says what was cut off, at most
_LONGEST = 1000  # characters of a reason; bytes of a key or a header where not all have room
_MOST_HEADERS = 100  # the same
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Sent:
    """A letter as it goes to Kafka."""

    key: bytes | None
    value: bytes | None
    headers: Headers

    @property
    def size(self) -> int:
        """How many bytes it takes in Kafka, uncompressed and alone; at most a few too many."""
        headers = sum(len(name.encode()) + len(value or b"") + _HEADER_OVERHEAD for name, value in self.headers)
        return len(self.key or b"") + len(self.value or b"") + headers + _OVERHEAD


def letter_for(topic: Topic, message: Message, reason: str, service: str) -> Sent:
    """Make a letter of the message as it came, with reason and place in its headers; cut it where it would not fit."""
    about = {
        "reason": reason[:_LONGEST],  # it may quote what is wrong
        "topic": message.topic,
        "partition": str(message.partition),
        "offset": str(message.offset),
        CONSUMER: service,
    }
    ours: Headers = [(name, text.encode()) for name, text in about.items()]
    whole = Sent(message.key, message.value, [*message.headers, *ours])
    most = topic.max_message_bytes  # the .dlq's too
    if whole.size <= most:
        return whole
    theirs = [each for each in message.headers if len(each[0]) + len(each[1] or b"") <= _LONGEST][:_MOST_HEADERS]
    key, value = message.key and message.key[:_LONGEST], message.value or b""
    kept = value[: max(0, most - Sent(key, b"", [*theirs, *ours]).size - _NOTE_BYTES)]
    note = f"{len(kept)} of {len(value)} bytes"
    return Sent(key, kept, [*theirs, *ours, (_NOTE, note.encode())])


class DeadLetters:
    """Where messages go that a service cannot process. Safe among threads."""

    def __init__(self, kafka: KafkaSettings, service: str) -> None:
        """Raise StoreRefusedError if Kafka cannot be spoken to with these settings now."""
        self._kafka = kafka
        self._service = service
        settings = {"enable.idempotence": True, "message.timeout.ms": 0, "message.max.bytes": LARGEST, "logger": _log}
        self._producer = connect(kafka, Producer, **settings)

    def send(self, topic: Topic, message: Message, reason: str) -> None:
        """Send a letter of the message; return when Kafka has it."""
        told: list[KafkaError | None] = []
        letter = letter_for(topic, message, reason, self._service)
        self._producer.produce(
            self._kafka.topic_name(topic.dlq),
            key=letter.key,
            value=letter.value,
            headers=[*letter.headers],
            on_delivery=lambda error, _: told.append(error),
        )
        while not told:
            self._producer.poll(1)
        if told[0] is not None:
            raise KafkaException(told[0])
