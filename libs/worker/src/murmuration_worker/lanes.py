"""One topic's messages, each into the lane of its partition.

When partitions move, or the process is to stop, what is not being tried is forgotten: Kafka has it for whoever comes
next. So a rebalance and a SIGTERM wait for the tries that are under way, and for nothing else.
"""

from collections.abc import Callable

from murmuration_worker.continuity import Continuity
from murmuration_worker.partition_lane import PartitionLane, Parts


class Lanes:
    """One topic's lanes, within one run of a Faust agent."""

    def __init__(self, parts: Parts, continuity: Callable[[int], Continuity | None]) -> None:
        """continuity: makes one for a partition, if the topic has any."""
        self._parts = parts
        self._continuity = continuity
        self._lanes: dict[int, PartitionLane] = {}

    async def run(self) -> None:
        """Hand over what comes."""
        try:
            async for event in self._parts.source.events():
                self._lane(event.message.partition).put(event)
        finally:
            for lane in self._lanes.values():
                lane.end()

    def clear(self) -> None:
        """Forget what is not being tried: the partitions may come to somebody else."""
        for lane in self._lanes.values():
            lane.forget()
        self._lanes = {}

    def _lane(self, partition: int) -> PartitionLane:
        if partition not in self._lanes:
            self._lanes[partition] = PartitionLane(self._parts, self._continuity(partition))
        return self._lanes[partition]
