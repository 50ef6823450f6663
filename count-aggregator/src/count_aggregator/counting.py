"""Arrivals of one partition into the counts: decide, record, and begin again from the ledger whenever that failed."""

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from count_aggregator.ledger import ROOM, OvertakenError, Place, TryAgainError
from count_aggregator.metrics import ACTIONS, APPLIED, APPLY, CONFLICTS, GAPS, LAG, REPEATS, RETRIES, WRITES
from count_aggregator.tally import Arrival, Tally, tally, vanished

LONGEST_PAUSE = 2.0
REMEMBERED = 100  # shards of a partition; any other is asked of the ledger again
_log = logging.getLogger(__name__)


class Ledger(Protocol):
    """Where counts and positions are kept; ledger.Ledger."""

    def load(self, partition_id: str) -> Place:
        """Return a partition's place."""

    def watermarks(self, partition_id: str, shards: set[str]) -> dict[str, int]:
        """Return the watermarks of these shards."""

    def write(
        self, partition_id: str, result: Tally, was: Place, becomes: Place, gaps: Sequence[str], now: float
    ) -> None:
        """Write all of it, or raise TryAgainError."""


@dataclass
class _Known:
    """What this process remembers of a partition; watermarks never older than the place."""

    place: Place
    watermarks: dict[str, int] = field(default_factory=dict)


class Counting:
    """One ledger, and what this process remembers of it. Each partition is counted by one thread at a time."""

    def __init__(
        self,
        ledger: Ledger,
        topic_id: str,
        sleep: Callable[[float], None] = time.sleep,
        now: Callable[[], float] = time.time,
        alive: Callable[[], object] = lambda: None,
    ) -> None:
        """Take the incarnation of the topic, and whom to tell after each attempt that work goes on."""
        self._ledger = ledger
        self._topic_id = topic_id
        self._now = now
        self._sleep = sleep
        self._alive = alive
        self._known: dict[str, _Known] = {}

    def count(self, partition_id: str, arrivals: Sequence[Arrival]) -> None:
        """Return when every arrival is in the counts, once. Blocks while the store is away."""
        pause = 0.05
        while arrivals:
            try:
                arrivals = arrivals[self._step(partition_id, arrivals) :]
                pause = 0.05
            except TryAgainError as error:
                self._known.pop(partition_id, None)
                RETRIES.inc()
                CONFLICTS.inc(isinstance(error, OvertakenError))
                _log.warning("retrying", extra={"partition": partition_id, "reason": str(error)})
                self._sleep(pause)
                pause = min(LONGEST_PAUSE, pause * 2)
            self._alive()

    def _step(self, partition_id: str, arrivals: Sequence[Arrival]) -> int:
        known = self._known.get(partition_id) or _Known(self._ledger.load(partition_id))
        shards = {event.source.shard_id for _, event in arrivals if event is not None}
        if unknown := shards - known.watermarks.keys():
            known.watermarks |= self._ledger.watermarks(partition_id, unknown)
        result = tally(arrivals, known.watermarks, ROOM)
        done = arrivals[: result.taken]
        becomes, gaps = self._follow(known.place, done)
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
        self._known[partition_id] = _Known(becomes, known.watermarks)
        APPLIED.inc(sum(event is not None for _, event in done) - result.repeats)
        REPEATS.inc(result.repeats)
        return result.taken

    def _follow(self, place: Place, arrivals: Sequence[Arrival]) -> tuple[Place, list[str]]:
        """Say where these arrivals bring the partition, and what should have come and never did."""
        gaps = []
        expected = place.next_offset
        if place.topic_id not in (None, self._topic_id):
            gaps.append(f"topic {place.topic_id} counted up to offset {expected} was re-created as {self._topic_id}")
            expected = 0
        expected, holes = vanished(arrivals, expected)
        gaps += [f"offsets {hole.start} to {hole.stop - 1} of topic {self._topic_id}" for hole in holes]
        return Place(place.version, expected, self._topic_id), gaps

    def _tell(self, partition_id: str, done: Sequence[Arrival], gaps: Sequence[str]) -> None:
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
