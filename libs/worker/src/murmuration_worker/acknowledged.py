"""How far this process has acknowledged each partition.

Rule: a partition is acknowledged in order, from where the group stood. So whatever lies below such an offset is
handled, whoever handled it and whose the partition is by now.
"""

from murmuration_worker.progress import Partition


class Acknowledged:
    """Safe among threads: one writes, and what another reads was true."""

    def __init__(self) -> None:
        self._offsets: dict[Partition, int] = {}

    def note(self, partition: Partition, offset: int) -> None:
        """Note that the message at this offset is acknowledged."""
        self._offsets[partition] = max(offset + 1, self._offsets.get(partition, 0))

    def offsets(self) -> dict[Partition, int]:
        """Return of each partition of which something was acknowledged the offset below which all is handled."""
        return dict(self._offsets)
