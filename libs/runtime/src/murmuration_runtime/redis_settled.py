"""Until when partitions of topics are settled, as workers write it in a Redis and edges read it: one hash."""

from collections.abc import Collection, Mapping

from murmuration_runtime.redis_nodes import Argument, Nodes, Script
from murmuration_runtime.settled import Partition, field_of, settled_until

SETTLE = Script("murmuration_runtime", "settle.lua")
SECONDS = 86_400  # that it lives: while DynamoDB is silent nobody writes it, and what it said is rested on


class RedisSettled:
    """One hash, with a field for each of these partitions."""

    def __init__(self, nodes: Nodes, key: str, partitions: Collection[Partition]) -> None:
        self._nodes = nodes
        self._key = key
        self._partitions = partitions

    def write(self, untils: Mapping[Partition, int]) -> None:
        """Say until when (ms) partitions are settled; what was said and is later stays."""
        pairs: list[Argument] = []
        for partition, until in untils.items():
            pairs += [field_of(partition), until]
        with self._nodes.errors_named():
            self._nodes.call(SETTLE, [self._key], [SECONDS, *pairs])

    def until(self) -> int:
        """Return until when (ms) all are settled; 0 if nobody knows."""
        with self._nodes.errors_named():
            return settled_until(self._partitions, self._nodes.command("HGETALL", self._key))
