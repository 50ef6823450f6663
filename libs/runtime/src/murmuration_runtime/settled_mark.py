"""Until when topics are settled in a Redis, as this process heard it a second ago.

Rule: it is read beside the requests, and a request only looks at a number. What is not read again grows old by itself:
a Redis that is away, or a process that was paused, makes requests rest on the tables.
"""

from collections.abc import Callable

from murmuration_runtime.periodic import keep_calling
from murmuration_runtime.settled import LATE_SECONDS, are_settled

EVERY_SECONDS = 1.0


class SettledMark:
    """A moment that a thread keeps fresh."""

    def __init__(self, read: Callable[[], int], now: Callable[[], float]) -> None:
        """read: says until when (ms) all is settled."""
        self._read = read
        self._now = now
        self.until = 0.0  # seconds; 0 says nothing

    def is_fresh(self) -> bool:
        """Tell whether a request may rest on what that Redis says."""
        return are_settled(self.until, self._now())

    def was_fresh_when(self, heard_at: float) -> bool:
        """Tell so of the moment when a store that has fallen silent was last heard."""
        return abs(self.until - heard_at) < LATE_SECONDS

    def age(self) -> float:
        """Return for how many seconds it is not known that all is settled."""
        return self._now() - self.until

    def refresh(self) -> None:
        """Read it."""
        self.until = self._read() / 1000

    def keep_fresh(self) -> None:
        """Read it every second in a thread, for as long as the process lives."""
        keep_calling("settled topics", self.refresh, EVERY_SECONDS)
