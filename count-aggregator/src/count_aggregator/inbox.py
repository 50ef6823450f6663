"""Kafka messages to events. What breaks the contract goes to the dead letters; nothing is dropped.

Rule: a message is decoded, or its copy in the .dlq is acknowledged, before this returns. A schema id that nobody knows
yet may be the registry lagging behind the producer, so it is asked for a while; a registry that is away, for ever.
"""

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from contracts import Codec, ContractError, Event, Topic, UnknownSchemaError
from contracts.registry import RegistryAwayError
from count_aggregator.metrics import DEAD

UNKNOWN_SCHEMA_TRIES = 5
PAUSE = 1.0
_log = logging.getLogger(__name__)


class Message(Protocol):
    """What Faust's message has that matters here."""

    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    headers: Any


class DeadLetters(Protocol):
    """Where messages go that cannot be processed."""

    def bury(self, message: Message, reason: str) -> None:
        """Return when the copy is safe."""


class Inbox:
    """The events of one topic."""

    def __init__(
        self, topic: Topic, codec: Codec, dead_letters: DeadLetters, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._topic = topic
        self._codec = codec
        self._dead_letters = dead_letters
        self._sleep = sleep

    def read(self, messages: Sequence[Message]) -> Iterator[tuple[int, Event | None]]:
        """Give offsets and events in order; None for one that was buried."""
        for message in messages:
            try:
                yield message.offset, self._decode(message)
            except ContractError as error:
                headers = {name: (value or b"").decode(errors="replace") for name, value in pairs(message.headers)}
                place = {"topic": self._topic.name, "partition": message.partition, "offset": message.offset}
                _log.error("dead letter", extra={**place, "headers": headers, "reason": str(error)})
                self._dead_letters.bury(message, str(error))
                DEAD.labels(self._topic.name).inc()
                yield message.offset, None

    def _decode(self, message: Message) -> Event:
        tries = 0
        while True:
            try:
                return self._codec.decode(message.value)
            except UnknownSchemaError:
                tries += 1
                if tries == UNKNOWN_SCHEMA_TRIES:
                    raise
            except RegistryAwayError as error:
                _log.warning("waiting", extra={"waiting_for": f"registry: {error}"})
            self._sleep(PAUSE)


def pairs(headers: Any) -> list[tuple[str, bytes | None]]:
    """Return a message's headers as a list, however Faust holds them."""
    return list(headers.items() if isinstance(headers, Mapping) else headers or ())
