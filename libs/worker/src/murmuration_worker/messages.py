"""What comes from Kafka: messages as they lie there, and batches of events as a service takes them. Pure."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, TypeVar

from contracts import Event, Tombstone

E = TypeVar("E", bound=Event | Tombstone)
Headers = list[tuple[str, bytes | None]]


class Message(NamedTuple):
    """One message as it lies in Kafka."""

    topic: str
    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    headers: Headers
    written_ms: float = math.inf  # Kafka's time of it; what did not come from Kafka is new


class Arrival(NamedTuple, Generic[E]):
    """What lay at an offset of a partition; None if it was no event and went to the dead letters."""

    offset: int
    event: E | None
    written_ms: float = math.inf


@dataclass(frozen=True)
class Batch(Generic[E]):
    """What came next of one partition, in order. The topic's id changes when a topic is made again."""

    topic: str
    topic_id: str
    partition: int
    arrivals: list[Arrival[E]]
    kept: dict[str, Any] = field(default_factory=dict)  # what the handler keeps from one try for the next

    @property
    def events(self) -> list[E]:
        """The events, without the dead letters; of a compacted topic also tombstones."""
        return [event for _, event, _ in self.arrivals if event is not None]


def pairs(headers: Any) -> Headers:
    """Return a message's headers as a list, however a client holds them."""
    return list(headers.items() if isinstance(headers, Mapping) else headers or ())


def texts(headers: Headers) -> dict[str, str]:
    """Return the headers as text, the last of each name."""
    return {name: (value or b"").decode(errors="replace") for name, value in headers}
