"""What a worker has in hand, and that it gets on. Pure: the clock is an argument.

Rule: whatever is tried to its end, be it in vain, is a heartbeat. So to wait for a store is progress, and to hang is
not.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

LONGEST_SECONDS = 30.0  # for which a batch may be in hand before the process says that it is not ready


class Progress:
    """One worker's work. Safe among threads."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._in_hand: dict[object, tuple[str, float]] = {}
        self.heartbeats = 0

    def heartbeat(self) -> None:
        """Note that something was tried to its end; the watchdog looks whether this goes on."""
        self.heartbeats += 1

    @contextmanager
    def busy_with(self, what: str) -> Iterator[None]:
        """Note that something is in hand for as long as the context lasts."""
        mark = object()
        self._in_hand[mark] = what, self._clock()
        try:
            yield
        finally:
            del self._in_hand[mark]
            self.heartbeat()

    def waiting_for(self) -> list[str]:
        """Return a sentence for each thing that has been in hand for too long."""
        now = self._clock()
        ages = [(what, now - began) for what, began in list(self._in_hand.values())]
        return [f"{what}: in hand for {age:.0f} s" for what, age in ages if age > LONGEST_SECONDS]
