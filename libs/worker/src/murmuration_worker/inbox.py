"""Kafka messages to events. What breaks the contract goes to the dead letters; nothing is dropped.

Rule: a message is decoded, or Kafka has its copy in the .dlq, before the next one is looked at. A schema id that nobody
knows may be the registry lagging behind the producer, so it is asked for a while; a registry that is away, for ever.
"""

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from contracts import Codec, ContractError, Event, Tombstone, Topic, UnknownSchemaError
from contracts.registry import RegistryAwayError
from murmuration_worker.messages import Arrival, Message, texts
from murmuration_worker.metrics import DEAD_LETTERS

UNKNOWN_SCHEMA_TRIES = 5
PAUSE_SECONDS = 1.0
_log = logging.getLogger(__name__)

SendDeadLetter = Callable[[Topic, Message, str], object]


class Inbox:
    """The events of one topic."""

    def __init__(
        self,
        topic: Topic,
        codec: Codec,
        send_dead_letter: SendDeadLetter,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self._topic = topic
        self._codec = codec
        self._send_dead_letter = send_dead_letter
        self._sleep = sleep

    def read(self, messages: Sequence[Message]) -> Iterator[Arrival[Any]]:
        """Give what lay at each offset, in order."""
        for message in messages:
            try:
                yield Arrival(message.offset, self._decode(message), message.written_ms)
            except ContractError as error:
                self._set_aside(message, str(error))
                yield Arrival(message.offset, None, message.written_ms)

    def _decode(self, message: Message) -> Event | Tombstone:
        if message.value is None:
            return self._topic.tombstone(message.key, texts(message.headers))
        tries = 0
        while True:
            try:
                return self._codec.decode(message.value)
            except UnknownSchemaError:
                tries += 1
                if tries == UNKNOWN_SCHEMA_TRIES:
                    raise
            except RegistryAwayError as error:
                _log.warning("waiting for the schema registry", extra={"reason": str(error)})
            self._sleep(PAUSE_SECONDS)

    def _set_aside(self, message: Message, reason: str) -> None:
        fields = {"topic": message.topic, "partition": message.partition, "offset": message.offset}
        _log.error(
            "dead letter; see docs/operations.md#dead-letters",
            extra={**fields, "headers": texts(message.headers), "reason": reason},
        )
        self._send_dead_letter(self._topic, message, reason)
        DEAD_LETTERS.labels(self._topic.name).inc()
