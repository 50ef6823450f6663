"""Ends a worker one of whose partitions has lag and does not get on: the next one begins where the group stands.

Rule: time is counted in looks, not by the clock, so that a process that was paused is not judged by the time it slept.
What cannot be asked while Kafka is away is no lag, and an attempt that a store refused is progress: both are waited
out in place, because a new process could do no more.
"""

import logging
import os
from collections.abc import Callable, Mapping

from contracts import ContractError
from murmuration_runtime.errors import StoreAwayError
from murmuration_runtime.periodic import keep_calling
from murmuration_worker import exits
from murmuration_worker.metrics import STILL
from murmuration_worker.progress import Partition, Sight

EVERY_SECONDS = 3.0
_log = logging.getLogger(__name__)


class Patience:
    """How often in a row each partition had lag and did not get on."""

    def __init__(self) -> None:
        self._sights: Mapping[Partition, Sight] = {}
        self._still: dict[Partition, int] = {}

    def look(self, sights: Mapping[Partition, Sight], behind: Mapping[Partition, int]) -> dict[Partition, int]:
        """Look once at our partitions, and return in how many looks in a row each has stood still."""
        still = {}
        for each, lag in behind.items():
            gets_on = not lag or sights.get(each) != self._sights.get(each)
            still[each] = 0 if gets_on or each not in self._still else self._still[each] + 1
        self._sights, self._still = sights, still
        return still


class Watchdog:
    """Looks after a worker from a thread of its own."""

    def __init__(
        self,
        patience_seconds: float,
        sights: Callable[[], Mapping[Partition, Sight]],
        behind: Callable[[], Mapping[Partition, int]],
        are_same_topics: Callable[[], bool],
        repair: str | None,
        end: Callable[[int], object] = os._exit,
    ) -> None:
        """Take what to ask at each look, and the command that makes up for events which went with a topic."""
        self._looks = max(1, round(patience_seconds / EVERY_SECONDS))
        self._patience = Patience()
        self._sights = sights
        self._behind = behind
        self._are_same_topics = are_same_topics
        self._repair = repair
        self._end = end

    def start(self) -> None:
        """Look every few seconds for as long as the process lives."""
        keep_calling("watchdog", self.look, EVERY_SECONDS)

    def look(self) -> None:
        """Look once, and end the process where that is better than going on."""
        behind: Mapping[Partition, int] = {}
        try:
            if not self._are_same_topics():
                self._end_with_topic("it has another id")
            behind = self._behind()
        except ContractError as error:  # another number of partitions: it was re-created, or somebody has grown it
            self._end_with_topic(str(error))
        except StoreAwayError:
            pass
        finally:
            self._judge(behind)

    def _judge(self, behind: Mapping[Partition, int]) -> None:
        still = self._patience.look(self._sights(), behind)
        STILL.clear()
        for (topic, number), looks in still.items():
            STILL.labels(topic, number).set(looks * EVERY_SECONDS)
        if over := [partition for partition, looks in still.items() if looks >= self._looks]:
            _log.critical(
                "no progress in spite of lag; ending, to begin again",
                extra={
                    "partitions": [f"{topic}/{number}" for topic, number in sorted(over)],
                    "behind": sum(behind[partition] for partition in over),
                },
            )
            self._end(exits.STUCK)

    def _end_with_topic(self, reason: str) -> None:
        repair = f": when the bridge goes on, run `{self._repair}`" if self._repair else ""
        _log.critical(
            "a topic was re-created; ending, to begin with the new one. Events may have vanished with the old%s",
            repair,
            extra={"reason": reason},
        )
        self._end(exits.OTHER_TOPIC)
