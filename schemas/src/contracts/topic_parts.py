"""Parts of a topic's contract that are more than a word."""

from dataclasses import dataclass

DAY_MS = 24 * 60 * 60 * 1000


@dataclass(frozen=True)
class Outage:
    """The longest outage that loses nothing, because retention is longer."""

    days: int
    which: str


@dataclass(frozen=True)
class DeadLetters:
    """Where an event goes that cannot be processed, as the raw bytes it came in."""

    partitions: int
    retention_days: int

    @property
    def retention_ms(self) -> int:
        """How long Kafka keeps one."""
        return self.retention_days * DAY_MS


@dataclass(frozen=True)
class Personal:
    """Which fields tell of people: by whose ids it is known who, and what is said of them or by them."""

    who: tuple[str, ...]
    what: tuple[str, ...]
    neither: tuple[str, ...]
