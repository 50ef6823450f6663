"""Buckets of tokens: who may do how much of something. Pure: time is an argument.

Rule: a bucket holds `burst` tokens and fills evenly, `quota` in so many seconds. A call takes what it costs, or nothing
and is refused. All that is known of a bucket is when it will be full again; one that is full need not be known.
"""

from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Budget:
    """What a caller may spend on one kind of operation."""

    name: str
    quota: int
    seconds: float
    burst: int

    @cached_property
    def rate(self) -> float:
        """Tokens a second."""
        return self.quota / self.seconds

    @cached_property
    def batch(self) -> int:
        """How many tokens a process may spend before it tells the others."""
        return max(1, self.burst // 10)


class Bucket:
    """One caller's, as far as this process knows: the truth may be less full, since others spend from it too."""

    __slots__ = ("full_at", "is_alone", "owed")

    def __init__(self) -> None:
        self.full_at = 0.0
        self.owed = 0  # tokens spent here that the others have not been told of
        self.is_alone = False  # the others do not answer

    def wait(self, budget: Budget, cost: int, now: float) -> float:
        """Return in how many seconds there is enough for a call; not above zero if there is now."""
        return max(self.full_at - now, 0.0) - (budget.burst - min(cost, budget.burst)) / budget.rate

    def spend(self, budget: Budget, cost: int, now: float) -> None:
        """Take what a call costs."""
        self.full_at = max(self.full_at, now) + cost / budget.rate
        self.owed += cost

    def settle(self, budget: Budget, reported: int, full_in: float, now: float) -> None:
        """Take over what all processes know together, now that this many tokens are told; others may be owed since."""
        self.is_alone = False
        self.owed -= reported
        self.full_at = now + full_in + self.owed / budget.rate

    def left(self, budget: Budget, now: float) -> int:
        """Return how many whole tokens are there."""
        return max(0, int(budget.burst - max(self.full_at - now, 0.0) * budget.rate + 1e-6))
