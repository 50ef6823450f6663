"""What a worker has in hand, and that each partition gets on. Pure: the clock is an argument.

Rule: whatever is tried to its end, be it in vain, is a heartbeat. So to wait for a store is progress, and to hang is
not.
"""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count

LONGEST_SECONDS = 30.0  # that one try of a batch may take before the process says that it is not ready
Partition = tuple[str, int]


@dataclass(frozen=True)
class Sight:
    """What can be seen of a partition: its heartbeats so far, and the number of the batch in hand, if there is one."""

    heartbeats: int = 0
    batch: int | None = None


class Progress:
    """One worker's work, a batch of one partition in each thread. Safe among threads."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._numbers = count()
        self._in_hand: dict[int, tuple[Partition, int, float]] = {}  # by thread; the last is its last sign of life
        self._heartbeats: Counter[Partition] = Counter()

    def heartbeat(self) -> None:
        """Note that this thread has tried something to its end; the watchdog looks whether this goes on."""
        if in_hand := self._in_hand.get(me := threading.get_ident()):
            partition, number, _ = in_hand
            self._in_hand[me] = partition, number, self._clock()
            self._heartbeats[partition] += 1

    def pause(self, seconds: float) -> None:
        """Wait for somebody who is away: that is progress, too."""
        self.heartbeat()
        time.sleep(seconds)

    @contextmanager
    def busy_with(self, partition: Partition) -> Iterator[None]:
        """Note that a batch of this partition is in hand for as long as the context lasts."""
        me = threading.get_ident()
        self._in_hand[me] = partition, next(self._numbers), self._clock()
        try:
            yield
        finally:
            self.heartbeat()
            del self._in_hand[me]

    def sights(self) -> dict[Partition, Sight]:
        """Return what can be seen now of each partition that was ever in hand."""
        batches = {partition: number for partition, number, _ in list(self._in_hand.values())}
        seen = dict(self._heartbeats)
        return {each: Sight(seen.get(each, 0), batches.get(each)) for each in seen.keys() | batches.keys()}

    def waiting_for(self) -> list[str]:
        """Return a sentence for each thing in hand that has given no sign of life for too long."""
        now = self._clock()
        ages = [(partition, now - seen) for partition, _, seen in list(self._in_hand.values())]
        return [
            f"a batch of {topic}/{number}: no sign of life for {age:.0f} s"
            for (topic, number), age in ages
            if age > LONGEST_SECONDS
        ]
