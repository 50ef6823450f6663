"""Says until when topics are settled in what a worker keeps, for whoever rests on it.

Rule: what the bridge says is read first, then the ends of the partitions, then how far they are handled; settled.py has
why. To be handled is a fact, whose partition it is: so every worker says what it knows of all, and the latest stands.
A partition that Kafka has emptied, and of which the group has committed nothing yet, has nothing left to handle.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Protocol

from murmuration_runtime.settled import Partition
from murmuration_worker.settled import Settled


class Bridge(Protocol):
    """What the bridge says of itself."""

    def shown_until(self) -> Mapping[str, int]:
        """Return of each topic until when (ms) all that its table's stream has shown is there; 0: unknown."""


class Settling:
    """Some topics' partitions, as one worker knows them."""

    def __init__(
        self,
        partitions: Iterable[Partition],
        bridge: Bridge,
        ends: Callable[[Iterable[Partition]], Mapping[Partition, int]],
        acknowledged: Callable[[], Mapping[Partition, int]],
        committed: Callable[[Collection[Partition]], Mapping[Partition, int]],
        starts: Callable[[Iterable[Partition]], Mapping[Partition, int]],
        write: Callable[[Mapping[Partition, int]], object],
    ) -> None:
        """acknowledged: how far this process has handled what it had. committed: how far the group has, as Kafka knows.

        starts: where what Kafka still has begins. write: tells readers.
        """
        self._bridge = bridge
        self._ends = ends
        self._acknowledged = acknowledged
        self._committed = committed
        self._starts = starts
        self._write = write
        self._settled = {partition: Settled() for partition in partitions}

    def look(self) -> None:
        """Look once, and say what is known."""
        untils = self._bridge.shown_until()
        ends = self._ends(self._settled)
        for partition, settled in self._settled.items():
            settled.add(untils[partition[0]], ends[partition])
        offsets = dict(self._acknowledged())
        if unknown := [each for each in self._settled if offsets.get(each, 0) < ends[each]]:
            for partition, offset in self._committed(unknown).items():
                offsets[partition] = max(offset, offsets.get(partition, 0))
        if new := [each for each in unknown if not offsets[each]]:
            offsets |= {each: start for each, start in self._starts(new).items() if start >= ends[each]}
        reached = {each: settled.reach(offsets.get(each, 0)) for each, settled in self._settled.items()}
        if told := {partition: until for partition, until in reached.items() if until}:
            self._write(told)
