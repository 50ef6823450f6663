"""How the work stands: what the start waits for, whether partitions came, if Kafka is there, how old a message is."""

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

LONGEST_MESSAGE = 30.0
T = TypeVar("T")
_log = logging.getLogger(__name__)


class Progress:
    """Ready means that every part is there, partitions came, and no message is stuck."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._waiting: str | None = "start"
        self._away: str | None = None
        self._began: dict[int, float] = {}
        self.attempts = 0

    def waiting_for(self) -> list[str]:
        """Name what is missing; nothing means ready."""
        if self._waiting:
            return [self._waiting]
        now = self._clock()
        ages = [now - began for began in list(self._began.values())]
        slow = [f"a message, for {age:.0f} s" for age in ages if age > LONGEST_MESSAGE]
        return [self._away, *slow] if self._away else slow

    def wait(self, name: str, attempt: Callable[[], T], away: tuple[type[Exception], ...], pause: float = 1.0) -> T:
        """Try until it succeeds, and log each new reason why it does not."""
        while True:
            try:
                return attempt()
            except away as error:
                reason = f"{name}: {error}"
                if reason != self._waiting:
                    _log.warning("waiting", extra={"waiting_for": reason})
                self._waiting = reason
                time.sleep(pause)

    def await_partitions(self) -> None:
        """Note that the parts are there; Kafka has still to assign partitions."""
        self._waiting = "partitions from Kafka"

    def partitions_came(self) -> None:
        """Note that Kafka has said which partitions are ours, be it none."""
        self._waiting = None
        _log.info("ready")

    def kafka_is(self, away: str | None) -> None:
        """Note why Kafka does not answer, or with None that it does."""
        if away and not self._away:
            _log.warning("waiting", extra={"waiting_for": away})
        self._away = away

    def attempted(self) -> None:
        """Note that something was tried to the end, be it in vain."""
        self.attempts += 1

    @contextmanager
    def busy(self) -> Iterator[None]:
        """Note that a message is being handled."""
        message = object()
        self._began[id(message)] = self._clock()
        try:
            yield
        finally:
            del self._began[id(message)]
            self.attempted()
