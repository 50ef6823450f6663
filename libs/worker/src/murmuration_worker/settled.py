"""Until when one partition is settled. Pure: no clock, no I/O.

Rule: a moment is what the bridge said first, and the partition's end as it was after that. When all below that end is
handled, whatever was committed before the moment is settled. An idle partition has nothing below its end that is not.
"""

from collections import deque

MOST = 64  # moments that wait: a partition that is far behind is settled at its next ones


class Settled:
    """The moments of one partition that are not reached yet, and the last that is."""

    def __init__(self) -> None:
        self.until = 0
        self._waiting: deque[tuple[int, int]] = deque()

    def add(self, until: int, end: int) -> None:
        """Take a moment, whose end was taken after it was said."""
        last = self._waiting[-1][0] if self._waiting else self.until
        if until > last and len(self._waiting) < MOST:
            self._waiting.append((until, end))

    def reach(self, offset: int) -> int:
        """Note that all below this offset is handled; return until when the partition is settled, 0 if unknown."""
        while self._waiting and self._waiting[0][1] <= offset:
            self.until, _ = self._waiting.popleft()
        return self.until
