"""Ids whose string order, integer order and time order agree. Pure: the clock is an argument.

Rule: 41 bits of milliseconds, 10 of worker, 12 of sequence. A worker number is reserved for a span of time, and ids
are made of that span alone; the next to hold the number begins where the span ended. So no worker's ids ever repeat or
go back, however clocks step and processes come and go.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass

from contracts.ids import BITS_BELOW_MS, EPOCH_MS

WORKERS = 1 << 10
_PER_MS = 1 << 12


class NoWorkerIdError(Exception):
    """No worker number is reserved for now; the same call may succeed in a moment."""


@dataclass(frozen=True)
class Reservation:
    """A worker number, and the span of time whose ids it may make."""

    worker: int
    start_ms: int
    until_ms: int


class Snowflakes:
    """Ids of whatever is reserved. Safe among threads."""

    def __init__(self, now: Callable[[], int]) -> None:
        self._now = now
        self._reserved = Reservation(0, 0, 0)
        self._last = (0, 0)
        self._lock = threading.Lock()

    def reserve(self, reservation: Reservation) -> None:
        """Make ids of this span from now on. Another number's begin a millisecond later: it may be a lower one."""
        with self._lock:
            if reservation.worker != self._reserved.worker:
                self._last = (self._last[0] + 1, -1)
            self._reserved = reservation
            self._last = max(self._last, (reservation.start_ms, -1))

    def next(self) -> tuple[str, int]:
        """Return a new id and the time it tells, never below the one before."""
        with self._lock:
            ms, sequence = max((self._now(), 0), (self._last[0], self._last[1] + 1))
            if sequence == _PER_MS:
                ms, sequence = ms + 1, 0
            if ms >= self._reserved.until_ms:
                raise NoWorkerIdError("no worker number is reserved for now, so no tweet id can be made")
            self._last = (ms, sequence)
            return str((ms - EPOCH_MS) << BITS_BELOW_MS | self._reserved.worker << 12 | sequence), ms
