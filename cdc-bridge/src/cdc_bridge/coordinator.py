"""The loop: which shards there are, which may be read, which of them are ours.

Rule: whatever may be read and is nobody's is taken until we hold our share, and every lease held is renewed in each
round. What is wrong with one table keeps no other from being read; what is wrong with a topic stops everything.
Readiness speaks of this process alone: gaps, stalled shards and stores that are away are metrics.
"""

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from cdc_bridge import metrics
from cdc_bridge.balance import moves
from cdc_bridge.discovery import Discovery
from cdc_bridge.leases import Lease, LeaseLostError, Leases
from cdc_bridge.lineage import Row, ShardKey
from cdc_bridge.shard_reader import ShardReader
from contracts import ContractError
from murmuration_runtime.errors import StoreAwayError, StoreRefusedError
from murmuration_runtime.readiness import Readiness

SILENT_MS = 30_000  # longer than any call with its retries; a shard that is read is heard from twice a second
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
        leases: Leases,
        reader: Callable[[ShardKey, Lease], ShardReader],
        readiness: Readiness,
        owner: str,
        look_seconds: float,
        grace_seconds: float,
        clock: Callable[[], int],
    ) -> None:
        self._discovery = discovery
        self._leases = leases
        self._reader = reader
        self._readiness = readiness
        self._owner = owner
        self._look_seconds = look_seconds
        self._grace_seconds = grace_seconds
        self._clock = clock
        self._readers: dict[ShardKey, tuple[ShardReader, threading.Thread]] = {}
        self._found: dict[str, Mapping[ShardKey, Row]] = {table: {} for table in tables}
        self._topics_hold_up = False
        self._topic_fault: str | None = None
        self._trouble: dict[str, str] = {}
        self._step_at = clock()
        self._due_seconds = look_seconds
        self._stopping = threading.Event()
        self._wake = threading.Event()

    def run(self) -> None:
        """Coordinate until somebody says stop; then finish the pages in hand and give the leases back."""
        try:
            while not self._stopping.is_set():
                self._wake.clear()
                self._wake.wait(self.look())
        finally:
            self._close()

    def stop(self) -> None:
        """Ask the loop to end; safe in a signal handler."""
        self._stopping.set()
        self._wake.set()

    def waiting_for(self) -> list[str]:
        """Name what is wrong with this process alone: a thread that hangs, or a stream that refuses us."""
        now = self._clock()
        readers = [(shard, reader) for shard, (reader, _) in list(self._readers.items())]
        waiting = []
        if now - self._step_at > SILENT_MS:
            waiting.append(f"coordinator: {_silent_for(now - self._step_at)}")
        waiting += [
            f"shard {shard.shard_id} of {shard.table}: {_silent_for(now - reader.heard_at)}"
            for shard, reader in readers
            if now - reader.heard_at > SILENT_MS
        ]
        waiting += [str(reader.trouble) for _, reader in readers if isinstance(reader.trouble, StoreRefusedError)]
        return waiting

    def look(self) -> float:
        """Do one round: renew, discover, take and give back; return in how many seconds the next one is due."""
        self._due_seconds = self._look_seconds
        self._reap()
        for shard, (reader, _) in self._readers.items():
            self._renew(shard, reader)
        for table in self._found:
            self._do(stream_of(table), partial(self._look_at_table, table))
        self._do(TOPICS_STEP, self._look_at_topics)
        self._do(LEASES_STEP, self._share)
        self._measure()
        return self._due_seconds

    def _do(self, name: str, step: Callable[[], None]) -> None:
        """Do one step of a round; if its store is away, the other steps go on and the next round tries it again."""
        self._step_at = self._clock()
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

    def _look_at_topics(self) -> None:
        """Stop while a topic is not what it was; while Kafka is away, the readers wait by themselves."""
        try:
            self._topics_hold_up, self._topic_fault = self._discovery.topics(), None
        except ContractError as error:
            if self._topic_fault is None:
                _log.error("publishing stopped: a topic is not as its contract says", extra={"reason": str(error)})
            self._topics_hold_up, self._topic_fault = True, str(error)

    def _measure(self) -> None:
        now = self._clock()
        stalled = Counter(
            shard.table for shard, (reader, _) in self._readers.items() if now - reader.progressed_at > SILENT_MS
        )
        for table in self._found:
            metrics.STALLED.labels(table).set(stalled[table])
        metrics.HELD.set(len(self._readers))
        metrics.STOPPED.set(self._topics_hold_up)

    def _reap(self) -> None:
        for shard, (_, thread) in list(self._readers.items()):
            if not thread.is_alive():
                del self._readers[shard]

    def _renew(self, shard: ShardKey, reader: ShardReader) -> None:
        self._step_at = self._clock()
        try:
            reader.expires_at = self._leases.renew(reader.lease, self._clock(), reader.tip_at)
        except LeaseLostError:
            reader.revoke()
        except StoreAwayError as error:
            about = {"shard_id": shard.shard_id, "reason": str(error)}
            _log.warning("lease not renewed; retrying in the next round", extra=about)

    def _share(self) -> None:
        """Take what is free up to our share, give back what is above it; look again when somebody's lease runs out."""
        now = self._clock()
        bridges = self._leases.live(self._owner, now)
        owners: dict[ShardKey, str | None] = dict.fromkeys(self._readers, self._owner)
        expiries = [until for name, until in bridges.items() if name != self._owner]
        since: dict[ShardKey, int] = {}
        for shard, row in (item for readable in self._found.values() for item in readable.items()):
            since[shard] = row.since
            if shard not in owners:
                is_held = row.owner is not None and row.expires_at > now
                owners[shard] = f"{row.owner}, by its row" if is_held else None
                expiries += [row.expires_at] if is_held else []
        take, give = moves(self._owner, bridges, owners)
        if self._topics_hold_up:
            take, give = [], list(self._readers)
        for shard in give:
            self._readers[shard][0].stop()
        for shard in take:
            self._take(shard, since[shard])
        self._due_seconds = min([self._look_seconds, *((until - now + 1) / 1000 for until in expiries)])

    def _take(self, shard: ShardKey, since: int) -> None:
        lease = self._leases.take(shard.stream_arn, shard.shard_id, self._owner, self._clock(), since)
        if lease is None:
            return
        change = "opened" if lease.epoch == 1 else "taken"
        metrics.LEASE_CHANGES.labels(change).inc()
        about = {"table": shard.table, "stream_arn": shard.stream_arn, "shard_id": shard.shard_id}
        _log.info("shard %s", change, extra={**about, "position": lease.position, "epoch": lease.epoch})
        reader = self._reader(shard, lease)
        thread = self._thread(reader)
        self._readers[shard] = reader, thread
        thread.start()

    def _thread(self, reader: ShardReader) -> threading.Thread:
        return threading.Thread(target=self._run, args=(reader,), name=reader.shard.shard_id)

    def _run(self, reader: ShardReader) -> None:
        try:
            reader.run()
        finally:
            self._wake.set()  # its children may go at once

    def _close(self) -> None:
        """Let pages end within the grace, while the leases still hold; what takes longer is repeated by others."""
        deadline = time.monotonic() + self._grace_seconds
        for reader, _ in self._readers.values():
            reader.stop()
        for _, thread in self._readers.values():
            thread.join(max(0, deadline - time.monotonic()))
        for reader, _ in self._readers.values():
            reader.give_up()
        for _, thread in self._readers.values():
            thread.join()
        try:
            self._leases.leave(self._owner)
        except StoreAwayError as error:
            _log.warning(
                "bridge not taken off the list of bridges: its entry expires by itself", extra={"reason": str(error)}
            )
