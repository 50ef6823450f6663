"""What a worker has in hand, and that each partition gets on. Pure: the clock is an argument.

Rule: whatever is tried to its end, be it in vain, is a heartbeat. So to wait for a store is progress, and to hang is
not. A partition gets on if the oldest try that it has in hand does: others may pass one that hangs, but nothing behind
that one is acknowledged.
"""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count

LONGEST_SECONDS = 30.0  # that a try may give no sign of life before the process says that it is not ready
Partition = tuple[str, int]


@dataclass(frozen=True)
class Sight:
    """What can be seen of a partition: its oldest try in hand with that one's heartbeats; or how many have ended."""

    trying: int | None
    heartbeats: int


@dataclass
class _Try:
    """One try in hand, in a thread of its own."""

    partition: Partition
    number: int
    seen: float
    heartbeats: int = 0


class Progress:
    """One worker's work, a try in each thread. Safe among threads."""

    def __init__(
        self, clock: Callable[[], float] = time.monotonic, sleep: Callable[[float], object] = time.sleep
    ) -> None:
        self._clock = clock
        self._sleep = sleep
        self._numbers = count()
        self._in_hand: dict[int, _Try] = {}  # by thread
        self._ended: Counter[Partition] = Counter()
        self._ending = threading.Lock()

    def heartbeat(self) -> None:
        """Note that this thread has tried something to its end; the watchdog looks whether this goes on."""
        if in_hand := self._in_hand.get(threading.get_ident()):
            in_hand.seen = self._clock()
            in_hand.heartbeats += 1

    def pause(self, seconds: float) -> None:
        """Wait for somebody who is away: that is progress, too."""
        self.heartbeat()
        self._sleep(seconds)

    @contextmanager
    def busy_with(self, partition: Partition) -> Iterator[None]:
        """Note that this thread tries something of this partition for as long as the context lasts."""
        me = threading.get_ident()
        self._in_hand[me] = _Try(partition, next(self._numbers), self._clock())
        try:
            yield
        finally:
            del self._in_hand[me]
            with self._ending:
                self._ended[partition] += 1

    def sights(self) -> dict[Partition, Sight]:
        """Return what can be seen now of each partition that was ever in hand."""
        sights = {partition: Sight(None, ended) for partition, ended in dict(self._ended).items()}
        for each in sorted(self._in_hand.values(), key=lambda each: -each.number):
            sights[each.partition] = Sight(each.number, each.heartbeats)
        return sights

    def waiting_for(self) -> list[str]:
        """Return a sentence for each thing in hand that has given no sign of life for too long."""
        now = self._clock()
        ages = [(each.partition, now - each.seen) for each in list(self._in_hand.values())]
        return [
            f"a batch of {topic}/{number}: no sign of life for {age:.0f} s"
            for (topic, number), age in ages
            if age > LONGEST_SECONDS
        ]
