"""Nothing that Kafka has is skipped on its way through Faust. Pure but for what it asks of Kafka.

Rule: Kafka hands out offsets without a hole, and the group has acknowledged in order. So the first message of a
partition that came to us lies where the group stands, and each later one behind the one before, or is a repeat. If one
lies further on, either Kafka no longer has what lies between, which is a gap, told before anything behind it is
handled; or Faust has lost something at a rebalance, and to acknowledge this one would acknowledge that one too. Then
the process ends, and the next one reads both. Of a compacted topic nothing can be said: Kafka takes out of it
what a later message replaces.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from murmuration_runtime.errors import StoreAwayError
from murmuration_worker.progress import Partition, Progress

PAUSE_SECONDS = 0.5
Answer = TypeVar("Answer")


class SkippedError(Exception):
    """Messages that Kafka has did not come, and later ones did."""


@dataclass(frozen=True)
class Places:
    """What Kafka knows of each partition, and who is told of a gap."""

    committed: Callable[[Partition], int]  # how far the group has acknowledged it
    first_kept: Callable[[Partition], int]  # where what Kafka still has of it begins
    vanished: Callable[[Partition, range], object]  # returns when the gap is told, and made up for
    progress: Progress


class Continuity:
    """The offset that one partition owes us next, from when it became ours. One thread at a time uses it."""

    def __init__(self, partition: Partition, places: Places) -> None:
        self._partition = partition
        self._places = places
        self._expected: int | None = None

    def comes_next(self, offset: int) -> bool:
        """Tell whether this comes next, or came before; without asking anybody. If not, ask()."""
        if self._expected is None or offset > self._expected:
            return False
        self._expected = max(self._expected, offset + 1)
        return True

    def ask(self, offset: int) -> None:
        """Ask Kafka until this comes next; raise SkippedError if something did not come that it has."""
        with self._places.progress.busy_with(self._partition):
            self._ask(offset)

    def _ask(self, offset: int) -> None:
        if self._expected is None:
            self._expected = self._answer(self._places.committed)
        if offset > self._expected and (kept := self._answer(self._places.first_kept)) > self._expected:
            self._places.vanished(self._partition, range(self._expected, kept))
            self._expected = kept
        if offset > self._expected:
            where = f"{self._partition[0]}/{self._partition[1]}"
            raise SkippedError(f"{where}: offset {offset} came, and {self._expected} should have come before it")

    def _answer(self, ask: Callable[[Partition], Answer]) -> Answer:
        while True:
            try:
                return ask(self._partition)
            except StoreAwayError:
                self._places.progress.pause(PAUSE_SECONDS)
