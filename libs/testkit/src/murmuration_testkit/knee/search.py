"""Which load to try next, and which of those that were tried is the knee. Pure.

Rule: one bad step proves nothing, because a machine may pause for a second. A load is too high when it was bad twice.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

FACTOR = 1.5
NARROW = 1.3  # the knee is known when the next load that is too high is no further away
TRIES = 2
MOST_READ_MS = 200.0
MOST_STALE_S = 2.0
MOST_FAILED = 0.001


@dataclass(frozen=True)
class Step:
    """What was measured at one load. Rates are a second, and `load` is the reads that were asked for."""

    load: float
    reads: float
    writes: float
    deliveries: float
    read_p50_ms: float
    read_p99_ms: float
    write_p99_ms: float
    tweet_p99_s: float
    follow_p99_s: float
    failed: float  # of all requests
    late_ms: float  # p99 of how late the load generator itself was
    cores: Mapping[str, float]  # that each process used
    lags: Mapping[str, float]  # seconds that each part added, in the mean

    @property
    def stale_p99_s(self) -> float:
        """How long it took until what was written was seen."""
        return max(self.tweet_p99_s, self.follow_p99_s)

    @property
    def good(self) -> bool:
        """Tell whether every bound was kept."""
        return not any(self.faults())

    def faults(self) -> Iterator[str]:
        """Say which bounds were not kept."""
        if self.read_p99_ms > MOST_READ_MS:
            yield f"p99 of reads {self.read_p99_ms:,.0f} ms, not {MOST_READ_MS:.0f}"
        if self.stale_p99_s > MOST_STALE_S:
            what = "tweets" if self.tweet_p99_s >= self.follow_p99_s else "follows"
            yield f"p99 of freshness of {what} {self.stale_p99_s:.1f} s, not {MOST_STALE_S:.0f}"
        if self.failed > MOST_FAILED:
            yield f"{self.failed:.1%} of the requests failed"


def next_load(tried: Sequence[Step], first: float) -> float | None:
    """Return the load to try next; None when the knee is known, or if even the first load is too high."""
    if not tried:
        return first
    last, highest, lowest = tried[-1], best(tried), too_high(tried)
    if not last.good and _times_bad(tried)[last.load] < TRIES:
        return last.load
    if not lowest:
        return last.load * FACTOR
    if not highest or lowest.load / highest.load < NARROW:
        return None
    return math.sqrt(highest.load * lowest.load)


def best(tried: Sequence[Step]) -> Step | None:
    """Return the good step of the highest load."""
    return max((step for step in tried if step.good), key=lambda step: step.load, default=None)


def too_high(tried: Sequence[Step]) -> Step | None:
    """Return the last step of the lowest load that was bad as often as it is tried."""
    times = _times_bad(tried)
    return min((step for step in reversed(tried) if times[step.load] >= TRIES), key=lambda it: it.load, default=None)


def p99(values: Sequence[float]) -> float:
    """Return what all values but one in a hundred do not exceed."""
    return quantile(values, 0.99)


def quantile(values: Sequence[float], share: float) -> float:
    """Return the value below which this share of them lies, the largest if they are few, 0 if there are none."""
    return sorted(values)[min(int(len(values) * share), len(values) - 1)] if values else 0.0


def _times_bad(tried: Sequence[Step]) -> Counter[float]:
    return Counter(step.load for step in tried if not step.good)
