"""The loop: which shards there are, which may be read, which of them are ours.

Rule: whatever may be read and is nobody's is taken until we hold our share (sharing.py); what we hold is renewed beside
this loop (renewals.py). What is wrong with one table keeps no other from being read; a topic's fault stops everything.
Readiness speaks of this process alone: gaps, stalled shards and stores that are away are metrics.
"""

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from cdc_bridge import metrics
from cdc_bridge.discovery import Discovery
from cdc_bridge.held_lease import HeldLease
from cdc_bridge.lineage import Row, ShardKey
from cdc_bridge.renewals import Renewals
from cdc_bridge.shard_reader import ShardReader
from cdc_bridge.sharing import Sharing
from cdc_bridge.shown_streams import ShownStreams
from cdc_bridge.turns import Turns
from contracts import ContractError
from murmuration_runtime.errors import StoreAwayError, StoreRefusedError
from murmuration_runtime.readiness import Readiness

SILENT_MS = 30_000  # longer than any call with its retries; a shard that is read is heard from twice a second
APART_SECONDS = 0.1
ROWS_A_SECOND = 5_000  # of 450 bytes: 560 read units, for each bridge
LEASES_STEP = "leases"
TOPICS_STEP = "topics"
_log = logging.getLogger(__name__)


def stream_of(table: str) -> str:
    """Name a table's stream in readiness and metrics."""
    return f"stream of {table}"


def _silent_for(ms: int) -> str:
    return f"no sign of life for {ms // 1000} s; if that lasts, restart this process"


class Coordinator:
    """Keeps a reader on this process's share of the shards."""

    def __init__(
        self,
        tables: Sequence[str],
        discovery: Discovery,
        sharing: Sharing,
        reader: Callable[[ShardKey, HeldLease], ShardReader],
        turns: Turns,
        readiness: Readiness,
        look_seconds: float,
        grace_seconds: float,
        steady: Callable[[], int],
        shown_streams: ShownStreams,
    ) -> None:
        self._discovery = discovery
        self._sharing = sharing
        self._reader = reader
        self._turns = turns
        self._readiness = readiness
        self._look_seconds = look_seconds
        self._grace_seconds = grace_seconds
        self._steady = steady
        self._readers: dict[ShardKey, ShardReader] = {}
        self._found: dict[str, Mapping[ShardKey, Row]] = {table: {} for table in tables}
        self._topics_hold_up = False
        self._topic_fault: str | None = None
        self._trouble: dict[str, str] = {}
        self._step_at = steady()
        self._due_seconds = look_seconds
        self._stopping = threading.Event()
        self._wake = threading.Event()
        self._prompt = frozenset(shown_streams.tables)
        self.renewals = Renewals(self._held, look_seconds, steady, self._prompt_held, shown_streams.tell)

    def run(self) -> None:
        """Coordinate until somebody says stop; then finish the pages in hand and give the leases back."""
        renewing = threading.Thread(target=self.renewals.run, name="renewals")
        renewing.start()
        try:
            while not self._stopping.is_set():
                self._wake.clear()
                self._wake.wait(self.look())
                self._stopping.wait(self._apart_seconds())  # shards that end together are one reason to look
        finally:
            self._close()
            self.renewals.stop()
            renewing.join()

    def stop(self) -> None:
        """Ask the loop to end; safe in a signal handler."""
        self._stopping.set()
        self._wake.set()

    def waiting_for(self) -> list[str]:
        """Name what is wrong with this process alone: a thread that hangs, or a stream that refuses us."""
        now = self._steady()
        readers = list(self._readers.items())
        waiting = []
        if now - self._step_at > SILENT_MS:
            waiting.append(f"coordinator: {_silent_for(now - self._step_at)}")
        if readers and now - self.renewals.heard_at > SILENT_MS:
            waiting.append(f"renewals: {_silent_for(now - self.renewals.heard_at)}")
        waiting += [
            f"shard {shard.shard_id} of {shard.table}: {_silent_for(now - reader.heard_at)}"
            for shard, reader in readers
            if now - reader.heard_at > SILENT_MS
        ]
        waiting += [str(reader.trouble) for _, reader in readers if isinstance(reader.trouble, StoreRefusedError)]
        return waiting

    def look(self) -> float:
        """Do one round: discover, share and measure; return in how many seconds the next one is due."""
        self._due_seconds = self._look_seconds
        for table in self._found:
            self._do(stream_of(table), partial(self._look_at_table, table))
        self._do(TOPICS_STEP, self._look_at_topics)
        self._do(LEASES_STEP, self._share)
        self._measure()
        return self._due_seconds

    def _do(self, name: str, step: Callable[[], None]) -> None:
        """Do one step of a round; if its store is away, the other steps go on and the next round tries it again."""
        self._step_at = self._steady()
        self._readiness.look({name: partial(self._attempt, name, step)})  # catches StoreAwayError, for /readyz

    def _attempt(self, name: str, step: Callable[[], None]) -> None:
        """Do a step; log its StoreAwayError once, however often it is met."""
        try:
            step()
        except StoreAwayError as error:
            if self._trouble.get(name) != str(error):
                extra = {"step": name, "reason": str(error)}
                _log.warning("a step of the round failed; retrying in the next round", extra=extra)
            self._trouble[name] = str(error)
            raise
        self._trouble.pop(name, None)

    def _look_at_table(self, table: str) -> None:
        self._found[table] = self._discovery.table(table)
        if away := self._discovery.away[table]:
            raise away

    def _look_at_topics(self) -> None:
        """Stop while a topic is not what it was; while Kafka is away, the readers wait by themselves."""
        try:
            self._topics_hold_up, self._topic_fault = self._discovery.topics(), None
        except ContractError as error:
            if self._topic_fault is None:
                _log.error("publishing stopped: a topic is not as its contract says", extra={"reason": str(error)})
            self._topics_hold_up, self._topic_fault = True, str(error)

    def _measure(self) -> None:
        now = self._steady()
        stalled = Counter(
            shard.table for shard, reader in list(self._readers.items()) if now - reader.progressed_at > SILENT_MS
        )
        for table in self._found:
            metrics.STALLED.labels(table).set(stalled[table])
        metrics.HELD.set(len(self._readers))
        metrics.STOPPED.set(self._topics_hold_up)

    def _held(self) -> list[HeldLease]:
        return [reader.lease for reader in list(self._readers.values())]

    def _prompt_held(self) -> list[HeldLease]:
        return [reader.lease for shard, reader in list(self._readers.items()) if shard.table in self._prompt]

    def _apart_seconds(self) -> float:
        return max(APART_SECONDS, sum(self._discovery.rows_read.values()) / ROWS_A_SECOND)

    def _share(self) -> None:
        """Take what is free up to our share, give back what is above it; look again when somebody's lease runs out."""
        rows = {shard: row for readable in self._found.values() for shard, row in readable.items()}
        held = dict(self._readers)  # those that end meanwhile are missed in the next round
        moves = self._sharing.moves(rows, {shard: reader.lease for shard, reader in held.items()})
        for shard in held if self._topics_hold_up else moves.give:
            self._stop(held[shard])
        if not self._topics_hold_up:
            for shard, row in moves.take.items():
                self._take(shard, row)
        self._due_seconds = min(self._look_seconds, (moves.due_ms + 1) / 1000)

    def _take(self, shard: ShardKey, row: Row) -> None:
        held = self._sharing.take(shard, row)
        if held is None:
            return
        change = "opened" if held.lease.epoch == 1 else "taken"
        metrics.LEASE_CHANGES.labels(change).inc()
        about = {"table": shard.table, "stream_arn": shard.stream_arn, "shard_id": shard.shard_id}
        _log.info("shard %s", change, extra={**about, "position": held.lease.position, "epoch": held.lease.epoch})
        self._readers[shard] = reader = self._reader(shard, held)
        self._turns.begin(reader, partial(self._ended, shard))

    def _ended(self, shard: ShardKey) -> None:
        """Forget a reader; called by the thread that took its last step."""
        del self._readers[shard]
        self._wake.set()  # its children may go at once

    def _stop(self, reader: ShardReader, *, at_once: bool = False) -> None:
        reader.stop(at_once=at_once)
        self._turns.wake(reader)

    def _close(self) -> None:
        """Let pages end within the grace, while the leases still hold; what takes longer is repeated by others."""
        deadline = time.monotonic() + self._grace_seconds
        for at_once in (False, True):
            for reader in list(self._readers.values()):
                self._stop(reader, at_once=at_once)
            while self._readers and (at_once or time.monotonic() < deadline):
                self._wake.clear()
                self._wake.wait(0.1)
        try:
            self._sharing.leave()
        except StoreAwayError as error:
            _log.warning(
                "bridge not taken off the list of bridges: its entry expires by itself", extra={"reason": str(error)}
            )
