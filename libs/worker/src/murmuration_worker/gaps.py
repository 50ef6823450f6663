"""Events that Kafka gave up before this worker had read them: told, and made up for.

Rule: nothing behind a gap is handled before all that was lost is made up for; a process that dies over it finds the
same gap again. What makes up for one gap makes up for every other one that is found in the next hour: Kafka keeps
events for days, so whatever was lost in the other one was in the tables, too.
"""

import logging
import threading
import time
from collections.abc import Callable
from math import inf

from murmuration_runtime.errors import StoreAwayError
from murmuration_worker.metrics import GAPS
from murmuration_worker.progress import Partition, Progress

COVERED_SECONDS = 3_600.0
PAUSE_SECONDS = 1.0
_log = logging.getLogger(__name__)


class Gaps:
    """Safe among threads."""

    def __init__(
        self,
        progress: Progress,
        rebuild: Callable[[], object] | None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """rebuild: makes up for whatever was lost; None if the handler does, who sees the offsets that did not come."""
        self._progress = progress
        self._rebuild = rebuild
        self._clock = clock
        self._rebuilding = threading.Lock()
        self._rebuilt_at = -inf

    def vanished(self, partition: Partition, offsets: range) -> None:
        """Tell of a gap, and return when it is made up for."""
        topic, number = partition
        GAPS.labels(topic).inc()
        _log.error(
            "events vanished before they were read; see docs/operations.md#workergap",
            extra={"topic": topic, "partition": number, "reason": f"offsets {offsets.start} to {offsets.stop - 1}"},
        )
        if self._rebuild is None:
            return
        while not self._rebuilding.acquire(timeout=PAUSE_SECONDS):
            self._progress.heartbeat()
        try:
            while self._clock() - self._rebuilt_at > COVERED_SECONDS:
                self._try(self._rebuild)
        finally:
            self._rebuilding.release()

    def _try(self, rebuild: Callable[[], object]) -> None:
        began = self._clock()
        try:
            rebuild()
        except StoreAwayError as error:
            _log.warning("what vanished is not made up for yet; it is tried again", extra={"reason": str(error)})
            self._progress.pause(PAUSE_SECONDS)
        else:
            self._rebuilt_at = began
            _log.warning("what vanished is made up for: all is built anew from the tables")
