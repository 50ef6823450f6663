"""Until when follows and mutes are settled in Redis, as this process heard it a second ago.

Rule: it is read beside the requests, and a page only looks at a number. What is not read again grows old by itself: a
Redis that is away, or a process that was paused, makes pages confirm their authors.
"""

from collections.abc import Callable

from murmuration_runtime.periodic import keep_calling
from murmuration_timelines.edges import are_settled

EVERY_SECONDS = 1.0


class EdgesMark:
    """A moment that a thread keeps fresh."""

    def __init__(self, read: Callable[[], int], now: Callable[[], float]) -> None:
        """read: says until when (ms) edges are settled."""
        self._read = read
        self._now = now
        self.until = 0.0  # seconds; 0 says nothing

    def is_fresh(self) -> bool:
        """Tell whether pages may rest on what Redis says of whom they show."""
        return are_settled(self.until, self._now())

    def age(self) -> float:
        """Return for how many seconds it is not known that edges are settled."""
        return self._now() - self.until

    def refresh(self) -> None:
        """Read it."""
        self.until = self._read() / 1000

    def keep_fresh(self) -> None:
        """Read it every second in a thread, for as long as the process lives."""
        keep_calling("settled edges", self.refresh, EVERY_SECONDS)
