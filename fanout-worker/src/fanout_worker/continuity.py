"""Nothing that Kafka has is skipped on its way through Faust. Pure but for what it asks of Kafka.

Rule: Kafka hands out offsets without a hole, and the group has acknowledged in order. So the first message of a
partition that came to us lies where the group stands, and each later one behind the one before, or is a repeat. If one
lies further on, Faust has lost something at a rebalance, and to acknowledge this one would acknowledge that one too.
Then the process ends, and the next one reads both.
"""

import threading
import time
from collections.abc import Callable, Mapping
from typing import TypeVar

from fanout_worker.streams import KafkaAwayError, Place

PAUSE_S = 0.5
Answer = TypeVar("Answer")


class SkippedError(Exception):
    """Messages that Kafka has did not come, and later ones did."""


class Continuity:
    """What each partition owes us next. Safe among threads that have a partition each."""

    def __init__(
        self,
        committed: Callable[[], Mapping[Place, int]],
        start: Callable[[Place], int],
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Take who knows how far the group has acknowledged each partition, and where what Kafka still has begins."""
        self._committed = committed
        self._start = start
        self._sleep = sleep
        self._asking = threading.Lock()
        self._next: dict[Place, int] = {}

    def forget(self) -> None:
        """Ask again where the group stands: partitions have moved."""
        self._next.clear()

    def check(self, place: Place, offset: int) -> None:
        """Raise SkippedError unless this comes next, or came before."""
        expected = self._expected(place)
        if offset > expected and offset > (expected := max(expected, self._ask(lambda: self._start(place)))):
            raise SkippedError(f"{place}: {offset} came, and {expected} should have come before it")
        self._next[place] = max(expected, offset + 1)

    def _expected(self, place: Place) -> int:
        while (expected := self._next.get(place)) is None:
            with self._asking:  # one answer is for all partitions
                if place not in self._next:
                    for each, offset in self._ask(self._committed).items():
                        self._next.setdefault(each, offset)
        return expected

    def _ask(self, ask: Callable[[], Answer]) -> Answer:
        while True:
            try:
                return ask()
            except KafkaAwayError:
                self._sleep(PAUSE_S)
