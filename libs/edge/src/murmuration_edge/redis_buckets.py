"""The buckets that all processes have together, in a Redis of their own."""

from collections.abc import Sequence

from murmuration_edge.leases import Charge
from murmuration_runtime.redis_nodes import Nodes, Script

CHARGE = Script("murmuration_edge", "charge.lua")
CONNECT_SECONDS = 0.25
ANSWER_SECONDS = 0.1  # a caller may be waiting


class RedisBuckets:
    """One Redis or a cluster; a bucket is a key, and gone when it is full."""

    def __init__(self, nodes: Nodes) -> None:
        self._nodes = nodes

    def charge(self, charges: Sequence[Charge]) -> Sequence[float | None]:
        """Take these tokens; return of each bucket in how many seconds it is full, or None if its node is away."""
        items = [
            (f"limit:{budget.name}:{{{caller_id}}}", str(tokens), repr(budget.rate), str(budget.burst))
            for budget, caller_id, tokens in charges
        ]
        with self._nodes.errors_named():
            answers = self._nodes.gather(CHARGE, (), items, whole=False)
        full_in = {item[0]: float(each) for asked, said in answers for item, each in zip(asked, said, strict=True)}
        return [full_in.get(item[0]) for item in items]


def connect(url: str, **options: object) -> RedisBuckets:
    """Return the buckets of this Redis, with what redis-py takes besides."""
    return RedisBuckets(Nodes(url, CONNECT_SECONDS, ANSWER_SECONDS, **options))
