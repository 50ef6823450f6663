"""A door that lets a few in at a time, and keeps only as many waiting, and only for a moment."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class BusyError(Exception):
    """There is more to do than can be done now; the same call may succeed in a few seconds."""


class Places:
    """So many at once, and as many waiting: whoever comes beyond that, or waits in vain, hears BusyError."""

    def __init__(self, most: int, patience: float) -> None:
        """Take how many may be inside, and for how many seconds one waits."""
        self._patience = patience
        self._here = threading.Semaphore(2 * most)
        self._inside = threading.Semaphore(most)

    @contextmanager
    def one(self) -> Iterator[None]:
        """Be inside."""
        if not self._here.acquire(blocking=False):
            raise BusyError("too many timelines are being built; try again shortly")
        try:
            if not self._inside.acquire(timeout=self._patience):
                raise BusyError("other timelines are still being built; try again shortly")
            try:
                yield
            finally:
                self._inside.release()
        finally:
            self._here.release()
