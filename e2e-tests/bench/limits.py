"""What counting a caller costs: less than a twentieth of a warm page, also with a Redis to count in."""

import itertools
import time
from collections.abc import Iterator
from typing import Any

from murmuration_edge.leases import Leases, SharedBuckets
from murmuration_edge.redis_buckets import connect
from murmuration_edge.token_buckets import Budget
from murmuration_testkit.redis_nodes import redis_node

CALLS = 100_000
A_SECOND = 1_000  # calls between two turns, in which the others are told
MOST_MS = 0.65 / 20  # a warm page takes 0.65 ms of processor time
BUDGET = Budget("calls", 1_200, 60, 300)
ENDLESS = Budget("calls", 1_000_000, 1, 300)  # so that one caller spends batch after batch


def _cost(shared: SharedBuckets | None, budget: Budget, callers: Iterator[str]) -> float:
    """Return the milliseconds of processor time that a call takes, what is told in turns included."""
    leases = Leases([budget], shared)
    began = time.process_time()
    for number in range(CALLS):
        leases.take(budget, next(callers), 1)
        if number % A_SECOND == 0:
            leases.turn()
    return (time.process_time() - began) / CALLS * 1000


def counting() -> list[dict[str, Any]]:
    """Count many callers who call rarely, and one who spends a batch after the other."""
    many = itertools.cycle([f"caller-{number}" for number in range(5_000)])
    with redis_node() as node:
        found = {
            "5,000 callers, each process alone": _cost(None, BUDGET, many),
            "5,000 callers, together in Redis": _cost(connect(node.url), BUDGET, many),
            "one caller who spends all, together in Redis": _cost(connect(node.url), ENDLESS, itertools.repeat("one")),
        }
    setup = (
        f"{CALLS} calls, told in turns of {A_SECOND}; without HTTP and the two headers; at most a twentieth of a page"
    )
    return [
        {"name": f"limits: {name}", "ours": cost, "unit": "ms", "at_most": MOST_MS, "setup": setup}
        for name, cost in found.items()
    ]


BENCHMARKS = [counting]
