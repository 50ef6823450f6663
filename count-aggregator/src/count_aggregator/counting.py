"""Arrivals of one partition into the counts: decide, record, and begin again from the ledger whenever that failed.

Rule: what is loaded may be old, and every write says so by failing. Whoever wrote first has won, and the rest is
tallied anew. A store that is away is not our matter: StoreAwayError goes up, and the same arrivals come again.
"""

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Protocol

from contracts import FollowChanged
from count_aggregator.contention import Contention
from count_aggregator.ledger import MOST_GAPS, ROOM, ContendedError, OvertakenError, Place
from count_aggregator.metrics import ACTIONS, APPLIED, APPLY, CONFLICTS, GAPS, LAG, REPEATS, UNFOLLOW_LAG, WRITES
from count_aggregator.tally import Tally, tally, vanished
from count_aggregator.topic import TOO_OLD_MS, partition_id
from murmuration_runtime.errors import StoreAwayError
from murmuration_worker.messages import Arrival, Batch

Arrivals = Sequence[Arrival[FollowChanged]]

REMEMBERED = 100  # shards of a partition; any other is asked of the ledger again
MOST_CONFLICTS = 300  # in a row, some seconds; then it is a store that does not get on
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
        contention: Contention | None = None,
    ) -> None:
        """Take what to call after each attempt, so that the watchdog sees progress."""
        self._ledger = ledger
        self._now = now
        self._sleep = sleep
        self._heartbeat = heartbeat
        self._contention = contention or Contention()
        self._remembered: dict[str, _Remembered] = {}

    def apply(self, batch: Batch[FollowChanged]) -> None:
        """Return when every event of the batch is in the counts, once; StoreAwayError: give it again."""
        self.count(partition_id(batch.partition), batch.topic_id, batch.arrivals)

    def count(self, partition_id: str, topic_id: str, arrivals: Arrivals) -> None:
        """Return when every arrival is in the counts, once; StoreAwayError: give them again, all or from any before."""
        conflicts = 0
        while arrivals:
            try:
                arrivals = arrivals[self._step(partition_id, topic_id, arrivals) :]
                conflicts = 0
            except StoreAwayError:
                self._remembered.pop(partition_id, None)
                raise
            except OvertakenError as error:
                conflicts += 1
                self._overtaken(partition_id, error, conflicts)
            finally:
                self._heartbeat()

    def _overtaken(self, partition_id: str, error: OvertakenError, conflicts: int) -> None:
        """Forget what has proved old, note who is contended, and wait a little, by chance."""
        CONFLICTS.inc()
        if isinstance(error, ContendedError):
            self._contention.note(error.users)
        if not isinstance(error, ContendedError) or not error.users:
            self._remembered.pop(partition_id, None)
        if conflicts >= MOST_CONFLICTS:
            raise StoreAwayError(f"{conflicts} conflicts in a row: {error}") from error
        _log.info("overtaken", extra={"partition": partition_id, "conflicts": conflicts, "reason": str(error)})
        self._sleep(self._contention.pause(conflicts))

    def _step(self, partition_id: str, topic_id: str, arrivals: Arrivals) -> int:
        """Count as many of the arrivals as fit in one transaction, and return how many."""
        known = self._remembered.get(partition_id) or _Remembered(self._ledger.load(partition_id))
        shards = {event.source.shard_id for _, event, _ in arrivals if event is not None}
        if unknown := shards - known.watermarks.keys():
            known.watermarks |= self._ledger.watermarks(partition_id, unknown)
        self._remembered[partition_id] = known
        contended = self._contention.users()
        result = tally(
            arrivals,
            known.watermarks,
            ROOM,
            reached=known.place.next_offset if known.place.topic_id == topic_id else 0,
            too_old_ms=self._now() * 1000 - TOO_OLD_MS,
            contended=contended,
        )
        done = arrivals[: result.taken]
        becomes, gaps = _advance(known.place, topic_id, done, result.doubtful)
        if result.watermarks or becomes != known.place:
            written = (partition_id, result, known.place, becomes, gaps)
            with self._contention.turn(result.users & contended), APPLY.time():
                if not contended.isdisjoint(result.users):
                    self._sleep(self._contention.courtesy())
                self._write(partial(self._ledger.write, *written, self._now()), contended)
            noted = known.place.gaps + len(gaps)
            becomes = replace(becomes, version=known.place.version + 1, gaps=noted if noted <= MOST_GAPS else 1)
            ACTIONS.inc(1 + len(result.watermarks) + len(result.users))
            self._tell(partition_id, done, gaps)
        for shard, sequence in result.watermarks.items():
            known.watermarks.pop(shard)
            known.watermarks[shard] = sequence  # the last used is the last to be forgotten
        for shard in list(known.watermarks)[:-REMEMBERED]:
            del known.watermarks[shard]
        self._remembered[partition_id] = _Remembered(becomes, known.watermarks)
        APPLIED.inc(sum(event is not None for _, event, _ in done) - result.repeats - len(result.doubtful))
        REPEATS.inc(result.repeats)
        return result.taken

    def _write(self, write: Callable[[], None], contended: frozenset[str]) -> None:
        """Write, and keep our turn at the contended until it is done; who else is contended goes up, to be left out."""
        for conflicts in range(1, MOST_CONFLICTS):
            try:
                return write()
            except ContendedError as error:
                if not error.users or not error.users <= contended:
                    raise
                self._contention.note(error.users)
                CONFLICTS.inc()
                self._heartbeat()
                self._sleep(self._contention.pause(conflicts))
        raise StoreAwayError(f"{MOST_CONFLICTS} conflicts in a row about the users {', '.join(sorted(contended))}")

    def _tell(self, partition_id: str, done: Arrivals, gaps: Sequence[str]) -> None:
        """Measure a write that succeeded; a gap is told only now, because a stale memory shows false ones."""
        WRITES.inc()
        events = [event for _, event, _ in done if event is not None]
        for lag, times in (
            (LAG, [each.occurred_at for each in events if each.occurred_at is not None]),
            (
                UNFOLLOW_LAG,
                [each.recorded_at for each in events if not each.following and each.recorded_at is not None],
            ),
        ):
            if times:
                lag.observe(max(0, self._now() - min(times) / 1000))
        for gap in gaps:
            GAPS.inc()
            _log.error(
                "events vanished or were not counted; count-reconciler recounts everybody by itself",
                extra={"partition": partition_id, "gap": gap},
            )


def _advance(place: Place, topic_id: str, arrivals: Arrivals, doubtful: Sequence[int]) -> tuple[Place, list[str]]:
    """Return where these arrivals bring the partition, and what never came or was not counted."""
    gaps = []
    expected = place.next_offset
    if place.topic_id not in (None, topic_id):
        gaps.append(f"topic {place.topic_id} counted up to offset {expected} was re-created as {topic_id}")
        expected = 0
    expected, holes = vanished(arrivals, expected)
    gaps += [f"offsets {hole.start} to {hole.stop - 1} of topic {topic_id}" for hole in holes]
    if doubtful:
        gaps.append(
            f"{len(doubtful)} events between offsets {doubtful[0]} and {doubtful[-1]} of topic {topic_id} "
            "that may have been counted before they were forgotten"
        )
    return Place(place.version, expected, topic_id, place.gaps), gaps
