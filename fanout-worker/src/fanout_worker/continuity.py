"""Nothing that Kafka has is skipped on its way through Faust. Pure but for the question where the group stands.

Rule: Kafka hands out offsets without a hole, and the group has acknowledged in order. So the first message of a
partition that came to us lies where the group stands, and each later one behind the one before, or is a repeat. If one
lies further on, Faust has lost something at a rebalance, and to acknowledge this one would acknowledge that one too.
Then the process ends, and the next one reads both.
"""

import time
from collections.abc import Callable

from fanout_worker.streams import KafkaAwayError, Place

PAUSE_S = 0.5


class SkippedError(Exception):
    """Messages that Kafka has did not come, and later ones did."""


class Continuity:
    """What each partition owes us next. Safe among threads that have a partition each."""

    def __init__(self, stands: Callable[[Place], int], sleep: Callable[[float], None] = time.sleep) -> None:
        """Take who knows the offset from which the group still has to read a partition."""
        self._stands = stands
        self._sleep = sleep
        self._next: dict[Place, int] = {}

    def forget(self) -> None:
        """Ask again where the group stands: partitions have moved."""
        self._next.clear()

    def check(self, place: Place, offset: int) -> None:
        """Raise SkippedError unless this comes next, or came before."""
        expected = self._next.get(place)
        if expected is None:
            expected = self._ask(place)
        if offset > expected:
            raise SkippedError(f"{place}: {offset} came, and {expected} should have come before it")
        self._next[place] = max(expected, offset + 1)

    def _ask(self, place: Place) -> int:
        while True:
            try:
                return self._stands(place)
            except KafkaAwayError:
                self._sleep(PAUSE_S)
