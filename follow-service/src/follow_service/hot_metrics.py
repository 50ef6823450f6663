"""The accounts that are written to most, as Prometheus is told of them.

Rule: few are named, and only such as are hot: who is followed a few times in a minute is nobody's business.
"""

from collections.abc import Iterable

from prometheus_client import Gauge, Metric
from prometheus_client.registry import Collector

from follow_service.hottest import WINDOW_S, Hottest

NAMED = 10
HOT = 60  # writes in a window, by one process
WRITES = Gauge(
    "follow_service_hot_followee_writes",
    "Follows, requests and their ends a second, of the accounts that had most in this process in the last minute.",
    ["user_id"],
    registry=None,
)


class HotFollowees(Collector):
    """A collector of the hottest accounts of one process."""

    def __init__(self, hottest: Hottest) -> None:
        self._hottest = hottest

    def collect(self) -> Iterable[Metric]:
        """Name those that are hot now, and nobody who was."""
        WRITES.clear()
        for each in self._hottest.most(NAMED):
            if each.count - each.over >= HOT:
                WRITES.labels(each.user_id).set(each.count / WINDOW_S)
        return WRITES.collect()
