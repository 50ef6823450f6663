"""What a worker has in hand, and that it gets on. Pure: the clock is an argument.

Rule: whatever is tried to its end, be it in vain, is a heartbeat. So to wait for a store is progress, and to hang is
not.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

LONGEST_SECONDS = 30.0  # that one try of a batch may take before the process says that it is not ready


class Progress:
    """One worker's work. Safe among threads."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._in_hand: dict[int, tuple[str, float]] = {}  # by thread: what, and when it last gave a sign of life
        self.heartbeats = 0

    def heartbeat(self) -> None:
        """Note that this thread has tried something to its end; the watchdog looks whether this goes on."""
        self.heartbeats += 1
        if in_hand := self._in_hand.get(me := threading.get_ident()):
            self._in_hand[me] = in_hand[0], self._clock()

    @contextmanager
    def busy_with(self, what: str) -> Iterator[None]:
        """Note that something is in hand for as long as the context lasts."""
        me = threading.get_ident()
        self._in_hand[me] = what, self._clock()
        try:
            yield
        finally:
            self.heartbeat()
            del self._in_hand[me]

    def waiting_for(self) -> list[str]:
        """Return a sentence for each thing in hand that has given no sign of life for too long."""
        now = self._clock()
        ages = [(what, now - seen) for what, seen in list(self._in_hand.values())]
        return [f"{what}: no sign of life for {age:.0f} s" for what, age in ages if age > LONGEST_SECONDS]
