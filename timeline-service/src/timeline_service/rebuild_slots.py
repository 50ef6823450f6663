"""How much is read from the database at once: a few timelines or pages, and as many wait for a moment. Pure."""

import queue
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from math import ceil

from murmuration_runtime import deadlines


class BusyError(Exception):
    """There is more to do than can be done now; the same call may succeed in a few seconds."""

    def __init__(self, reason: str = "all slots are taken", seconds: float = 2) -> None:
        """seconds: when to come again."""
        super().__init__(reason)
        self.retry_after_seconds = ceil(seconds)


class RebuildSlots:
    """So many at once, and as many waiting: whoever comes beyond that, or waits in vain, gets BusyError."""

    def __init__(self, most: int, patience: float) -> None:
        """patience: seconds that a read waits for a slot, if its deadline allows."""
        self._most = most
        self._patience = patience
        self._admitted = threading.BoundedSemaphore(2 * most)  # with a slot, or waiting for one
        self._free: queue.SimpleQueue[None] = queue.SimpleQueue()
        for _ in range(most):
            self._free.put(None)

    @property
    def taken(self) -> int:
        """Tell how many are taken now."""
        return self._most - self._free.qsize()

    @contextmanager
    def one(self) -> Iterator[None]:
        """Hold a slot for as long as the context lasts."""
        if not self._admitted.acquire(blocking=False):
            raise BusyError("too many timelines are being built, and too many reads wait for their turn")
        try:
            self._take()
            try:
                yield
            finally:
                self._free.put(None)
        finally:
            self._admitted.release()

    def _take(self) -> None:
        try:
            self._free.get(timeout=deadlines.remaining(self._patience))
        except queue.Empty:
            raise BusyError("other timelines are still being built") from None
