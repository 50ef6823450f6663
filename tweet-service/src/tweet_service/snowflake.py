"""Ids whose string order, integer order and time order agree. Pure: the clock is an argument.

Rule: 41 bits of milliseconds, 10 of worker, 12 of sequence. One generator never repeats or goes back, whatever its
clock does; two with the same worker could meet, so the row's condition has the last word.
"""

import threading
from collections.abc import Callable

EPOCH_MS = 1_288_834_974_657
WORKERS = 1 << 10
_PER_MS = 1 << 12


class Snowflakes:
    """Ids of one worker. Safe among threads."""

    def __init__(self, worker: int, now: Callable[[], int]) -> None:
        if not 0 <= worker < WORKERS:
            raise ValueError(f"a worker's id is from 0 to {WORKERS - 1}, not {worker}")
        self._worker = worker
        self._now = now
        self._last = (0, 0)
        self._lock = threading.Lock()

    def next(self) -> tuple[str, int]:
        """Return a new id and the time it tells, never below the one before."""
        with self._lock:
            ms, sequence = max((self._now(), 0), (self._last[0], self._last[1] + 1))
            if sequence == _PER_MS:
                ms, sequence = ms + 1, 0
            self._last = (ms, sequence)
        return str((ms - EPOCH_MS) << 22 | self._worker << 12 | sequence), ms
