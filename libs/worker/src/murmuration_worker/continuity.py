"""Nothing that Kafka has is skipped on its way through Faust. Pure but for what it asks of Kafka.

Rule: Kafka hands out offsets without a hole, and the group has acknowledged in order. So the first message of a
partition that came to us lies where the group stands, and each later one behind the one before, or is a repeat. If one
lies further on, Faust has lost something at a rebalance, and to acknowledge this one would acknowledge that one too.
Then the process ends, and the next one reads both.
"""

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from murmuration_runtime.errors import StoreAwayError

PAUSE_SECONDS = 0.5
Answer = TypeVar("Answer")
Partition = tuple[str, int]


class SkippedError(Exception):
    """Messages that Kafka has did not come, and later ones did."""


class Continuity:
    """The offset that each partition owes us next. Safe among threads that have a partition each."""

    def __init__(
        self,
        committed: Callable[[], Mapping[Partition, int]],
        first_kept: Callable[[Partition], int],
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        """Take how far the group has acknowledged every partition, and where what Kafka still has of one begins."""
        self._committed = committed
        self._first_kept = first_kept
        self._sleep = sleep
        self._asking = threading.Lock()
        self._next: dict[Partition, int] = {}

    def forget(self) -> None:
        """Ask again where the group stands: partitions have moved."""
        self._next.clear()

    def check(self, partition: Partition, offsets: Iterable[int]) -> None:
        """Raise SkippedError unless these come next, or came before."""
        expected = self._expected(partition)
        for offset in offsets:
            if offset > expected:  # retention may have taken what lies between: that is no fault of Faust's
                expected = max(expected, self._ask(lambda: self._first_kept(partition)))
            if offset > expected:
                raise SkippedError(
                    f"{partition[0]}/{partition[1]}: offset {offset} came, and {expected} should have come before it"
                )
            expected = max(expected, offset + 1)
        self._next[partition] = expected

    def _expected(self, partition: Partition) -> int:
        while (expected := self._next.get(partition)) is None:
            with self._asking:  # one answer is for all partitions
                if partition not in self._next:
                    for each, offset in self._ask(self._committed).items():
                        self._next.setdefault(each, offset)
        return expected

    def _ask(self, ask: Callable[[], Answer]) -> Answer:
        while True:
            try:
                return ask()
            except StoreAwayError:
                self._sleep(PAUSE_SECONDS)
