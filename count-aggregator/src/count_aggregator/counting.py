"""Arrivals of one partition into the counts: decide, record, and begin again from the ledger whenever that failed."""

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from contracts import FollowChanged
from count_aggregator.ledger import ROOM, OvertakenError, Place
from count_aggregator.metrics import ACTIONS, APPLIED, APPLY, CONFLICTS, GAPS, LAG, REPEATS, RETRIES, WRITES
from count_aggregator.tally import Tally, tally, vanished
from count_aggregator.topic import partition_id
from murmuration_runtime.errors import StoreAwayError
from murmuration_runtime.retries import pauses
from murmuration_worker.messages import Arrival, Batch

Arrivals = Sequence[Arrival[FollowChanged]]

REMEMBERED = 100  # shards of a partition; any other is asked of the ledger again
_log = logging.getLogger(__name__)


class Ledger(Protocol):
    """Where counts and positions are kept; ledger.Ledger."""

    def load(self, partition_id: str) -> Place:
        """Return a partition's place."""

    def watermarks(self, partition_id: str, shards: set[str]) -> dict[str, int]:
        """Return the watermarks of these shards; -1 of one that is new."""

    def write(
        self, partition_id: str, result: Tally, was: Place, becomes: Place, gaps: Sequence[str], now: float
    ) -> None:
        """Write all of it, or raise OvertakenError or StoreAwayError."""


@dataclass
class _Remembered:
    """What this process remembers of a partition; watermarks never older than the place."""

    place: Place
    watermarks: dict[str, int] = field(default_factory=dict)


class Counting:
    """One ledger, and what this process remembers of it. Each partition is counted by one thread at a time."""

    def __init__(
        self,
        ledger: Ledger,
        sleep: Callable[[float], object] = time.sleep,
        now: Callable[[], float] = time.time,
        heartbeat: Callable[[], object] = lambda: None,
    ) -> None:
        """Take what to call after each attempt, so that the watchdog sees progress."""
        self._ledger = ledger
        self._now = now
        self._sleep = sleep
        self._heartbeat = heartbeat
        self._remembered: dict[str, _Remembered] = {}

    def apply(self, batch: Batch[FollowChanged]) -> None:
        """Return when every event of the batch is in the counts, once. Blocks while the store is away."""
        self.count(partition_id(batch.partition), batch.topic_id, batch.arrivals)

    def count(self, partition_id: str, topic_id: str, arrivals: Arrivals) -> None:
        """Return when every arrival is in the counts, once. Blocks while the store is away."""
        waits = pauses()
        while arrivals:
            try:
                arrivals = arrivals[self._step(partition_id, topic_id, arrivals) :]
                waits = pauses()
            except (StoreAwayError, OvertakenError) as error:
                self._remembered.pop(partition_id, None)
                RETRIES.inc()
                CONFLICTS.inc(isinstance(error, OvertakenError))
                _log.warning("retrying", extra={"partition": partition_id, "reason": str(error)})
                self._sleep(next(waits))
            self._heartbeat()

    def _step(self, partition_id: str, topic_id: str, arrivals: Arrivals) -> int:
        """Count as many of the arrivals as fit in one transaction, and return how many."""
        known = self._remembered.get(partition_id) or _Remembered(self._ledger.load(partition_id))
        shards = {event.source.shard_id for _, event in arrivals if event is not None}
        if unknown := shards - known.watermarks.keys():
            known.watermarks |= self._ledger.watermarks(partition_id, unknown)
        result = tally(arrivals, known.watermarks, ROOM)
        done = arrivals[: result.taken]
        becomes, gaps = _advance(known.place, topic_id, done)
        if result.watermarks or becomes != known.place:
            with APPLY.time():
                self._ledger.write(partition_id, result, known.place, becomes, gaps, self._now())
            becomes = replace(becomes, version=known.place.version + 1)
            ACTIONS.inc(1 + len(result.watermarks) + len(result.users))
            self._tell(partition_id, done, gaps)
        for shard, sequence in result.watermarks.items():
            known.watermarks.pop(shard)
            known.watermarks[shard] = sequence  # the last used is the last to be forgotten
        for shard in list(known.watermarks)[:-REMEMBERED]:
            del known.watermarks[shard]
        self._remembered[partition_id] = _Remembered(becomes, known.watermarks)
        APPLIED.inc(sum(event is not None for _, event in done) - result.repeats)
        REPEATS.inc(result.repeats)
        return result.taken

    def _tell(self, partition_id: str, done: Arrivals, gaps: Sequence[str]) -> None:
        """Measure a write that succeeded; a gap is told only now, because a stale memory shows false ones."""
        WRITES.inc()
        times = [event.occurred_at for _, event in done if event is not None and event.occurred_at is not None]
        if times:
            LAG.observe(max(0, self._now() - min(times) / 1000))
        for gap in gaps:
            GAPS.inc()
            _log.error(
                "events vanished; recount with `python -m count_aggregator reconcile --all`",
                extra={"partition": partition_id, "gap": gap},
            )


def _advance(place: Place, topic_id: str, arrivals: Arrivals) -> tuple[Place, list[str]]:
    """Return where these arrivals bring the partition, and what should have come and never did."""
    gaps = []
    expected = place.next_offset
    if place.topic_id not in (None, topic_id):
        gaps.append(f"topic {place.topic_id} counted up to offset {expected} was re-created as {topic_id}")
        expected = 0
    expected, holes = vanished(arrivals, expected)
    gaps += [f"offsets {hole.start} to {hole.stop - 1} of topic {topic_id}" for hole in holes]
    return Place(place.version, expected, topic_id), gaps
