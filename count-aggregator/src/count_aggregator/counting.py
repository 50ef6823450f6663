"""Events of one partition into the counts: decide, record, and begin again from the ledger whenever that failed."""

import logging
import time
from collections.abc import Callable, Sequence

from contracts import FollowChanged
from count_aggregator.ledger import ROOM, Entry, Ledger, TryAgainError
from count_aggregator.metrics import APPLIED, LAG, REPEATS, RETRIES, WRITES
from count_aggregator.tally import tally

LONGEST_PAUSE = 2.0
_log = logging.getLogger(__name__)


class Counting:
    """One ledger, and what this process remembers of it. Each partition is counted by one thread at a time."""

    def __init__(
        self, ledger: Ledger, sleep: Callable[[float], None] = time.sleep, now: Callable[[], float] = time.time
    ) -> None:
        self._ledger = ledger
        self._now = now
        self._sleep = sleep
        self._entries: dict[str, dict[str, Entry]] = {}

    def count(self, partition_id: str, events: Sequence[FollowChanged]) -> None:
        """Return when every event is in the counts, once. Blocks while the store is away."""
        pause = 0.05
        while events:
            try:
                events = events[self._step(partition_id, events) :]
                pause = 0.05
            except TryAgainError as error:
                self._entries.pop(partition_id, None)
                RETRIES.inc()
                _log.warning("retrying", extra={"partition": partition_id, "reason": str(error)})
                self._sleep(pause)
                pause = min(LONGEST_PAUSE, pause * 2)

    def _step(self, partition_id: str, events: Sequence[FollowChanged]) -> int:
        entries = self._entries.get(partition_id)
        if entries is None:
            entries = self._ledger.load(partition_id)
        result = tally(events, {shard: entry.sequence_number for shard, entry in entries.items()}, ROOM)
        if result.watermarks:
            entries = self._ledger.write(partition_id, result, entries)
            WRITES.inc()
            if times := [event.occurred_at for event in events[: result.taken] if event.occurred_at is not None]:
                LAG.observe(max(0, self._now() - min(times) / 1000))
        self._entries[partition_id] = entries
        APPLIED.inc(result.taken - result.repeats)
        REPEATS.inc(result.repeats)
        return result.taken
