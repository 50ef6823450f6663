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
        self.inside = 0
        self.waiting = 0
        self._most = most
        self._patience = patience
        self._changed = threading.Condition()

    @contextmanager
    def one(self) -> Iterator[None]:
        """Be inside."""
        with self._changed:
            if self.inside == self._most:
                self._wait()
            self.inside += 1
        try:
            yield
        finally:
            with self._changed:
                self.inside -= 1
                self._changed.notify()

    def _wait(self) -> None:
        if self.waiting == self._most:
            raise BusyError("too many timelines are being built; try again shortly")
        self.waiting += 1
        came = self._changed.wait_for(lambda: self.inside < self._most, self._patience)
        self.waiting -= 1
        if not came:
            raise BusyError("other timelines are still being built; try again shortly")
