"""How long to wait between tries, and how fast work may go. Pure: clock, sleep and chance are arguments."""

import time
from collections.abc import Callable, Iterator


def pauses(first: float = 0.05, longest: float = 2.0, draw: Callable[[], float] = lambda: 1.0) -> Iterator[float]:
    """Give the seconds to wait before each next try: doubling, up to the longest, for ever.

    draw: a number from 0 to 1. With random.random each is shorter by up to half, so that those who failed together do
    not try again together.
    """
    pause = first
    while True:
        yield pause * (1 + draw()) / 2
        pause = min(longest, pause * 2)


class Pace:
    """Lets so many steps a second pass, evenly."""

    def __init__(
        self, rate: float, clock: Callable[[], float] = time.monotonic, sleep: Callable[[float], object] = time.sleep
    ) -> None:
        self._gap = 1 / rate
        self._clock = clock
        self._sleep = sleep
        self._next = clock()

    def wait(self) -> None:
        """Return when the next step may be taken."""
        now = self._clock()
        if now < self._next:
            self._sleep(self._next - now)
        self._next = max(self._next, now) + self._gap
