"""The loop: which shards there are, which may be read, which of them are ours.

Rule: whatever may be read and is nobody's is taken until we hold our share, and every lease held is renewed in each
round. What is wrong with one table keeps no other from being read; what is wrong with a topic stops everything.
"""

import logging
import threading
import time
from collections.abc import Callable, Sequence

from cdc_bridge import metrics
from cdc_bridge.balance import moves
from cdc_bridge.discovery import Discovery, Found
from cdc_bridge.dynamo_streams import StreamAwayError
from cdc_bridge.gaps import Gap
from cdc_bridge.kafka_publisher import KafkaAwayError
from cdc_bridge.leases import Lease, LeaseLostError, Leases, LeasesAwayError
from cdc_bridge.lineage import ShardKey
from cdc_bridge.shard_reader import ShardReader
from contracts import ContractError

SILENT_MS = 30_000  # longer than any call with its retries; a shard that is read is heard from twice a second
_log = logging.getLogger(__name__)


class Coordinator:
    """Keeps a reader on this process's share of the shards."""

    def __init__(
        self,
        tables: Sequence[str],
        discovery: Discovery,
        leases: Leases,
        reader: Callable[[ShardKey, Lease], ShardReader],
        owner: str,
        look_seconds: float,
        grace_seconds: float,
        clock: Callable[[], int],
    ) -> None:
        self._discovery = discovery
        self._leases = leases
        self._reader = reader
        self._owner = owner
        self._look_seconds = look_seconds
        self._grace_seconds = grace_seconds
        self._clock = clock
        self._readers: dict[ShardKey, tuple[ShardReader, threading.Thread]] = {}
        self._found = {table: Found({}, []) for table in tables}
        self._topic_gaps: Sequence[Gap] = []
        self._topic_trouble: str | None = None
        self._seen_at = dict.fromkeys(tables, clock())
        self._trouble: dict[str, str | None] = dict.fromkeys(tables, "not looked for yet")
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

    def gaps(self) -> list[str]:
        """Name everything that was lost and that no operator has cleared."""
        return [gap.line for gap in self._open_gaps()]

    def waiting_for(self) -> list[str]:
        """Name everything that keeps the bridge from making progress; nothing means ready."""
        now = self._clock()
        waiting = [f"table {table}: {trouble}" for table, trouble in self._trouble.items() if trouble]
        waiting += [f"table {table}: not seen lately" for table, at in self._seen_at.items() if now - at > SILENT_MS]
        waiting += [self._topic_trouble] if self._topic_trouble else []
        waiting += [gap.line for gap in self._open_gaps() if gap.holds_up]
        waiting += [
            f"shard {shard.shard_id} of {shard.table}: no progress for {(now - reader.progressed_at) // 1000} s: "
            f"{reader.trouble or 'no answer yet'}"
            for shard, (reader, _) in list(self._readers.items())
            if now - reader.progressed_at > SILENT_MS
        ]
        return waiting

    def look(self) -> float:
        """Do one round: renew, discover, take and give back; return in how many seconds the next one is due."""
        self._reap()
        for shard, (reader, _) in self._readers.items():
            self._renew(shard, reader)
        for table in self._trouble:
            try:
                self._found[table] = self._discovery.table(table)
            except (StreamAwayError, LeasesAwayError) as error:
                if self._trouble[table] != str(error):
                    _log.warning("table cannot be read; retrying", extra={"table": table, "error": str(error)})
                self._trouble[table] = str(error)
            else:
                self._trouble[table] = None
                self._seen_at[table] = self._clock()
        try:
            self._look_at_topics()
            return self._share()
        except LeasesAwayError as error:
            _log.warning("shards not shared out; retrying in the next round", extra={"error": str(error)})
            return self._look_seconds
        finally:
            metrics.HELD.set(len(self._readers))

    def _open_gaps(self) -> list[Gap]:
        return [*self._topic_gaps, *(gap for found in list(self._found.values()) for gap in found.gaps)]

    def _look_at_topics(self) -> None:
        """Stop while a topic is not what it was; while Kafka is away, the readers wait by themselves."""
        try:
            self._topic_gaps = self._discovery.topics()
            self._topic_trouble = None
        except KafkaAwayError:
            return
        except ContractError as error:
            if self._topic_trouble is None:
                _log.error("publishing stopped: a topic is not as its contract says", extra={"error": str(error)})
            self._topic_trouble = str(error)

    def _reap(self) -> None:
        for shard, (_, thread) in list(self._readers.items()):
            if not thread.is_alive():
                del self._readers[shard]

    def _renew(self, shard: ShardKey, reader: ShardReader) -> None:
        try:
            reader.expires_at = self._leases.renew(reader.lease, self._clock(), reader.tip_at)
        except LeaseLostError:
            reader.revoke()
        except LeasesAwayError as error:
            _log.warning(
                "lease not renewed; retrying in the next round", extra={"shard_id": shard.shard_id, "error": str(error)}
            )

    def _share(self) -> float:
        """Take what is free up to our share, give back what is above it; return when somebody's lease runs out."""
        now = self._clock()
        bridges = self._leases.live(self._owner, now)
        owners: dict[ShardKey, str | None] = dict.fromkeys(self._readers, self._owner)
        expiries = [until for name, until in bridges.items() if name != self._owner]
        since: dict[ShardKey, int] = {}
        for shard, row in (item for found in self._found.values() for item in found.readable.items()):
            since[shard] = row.since
            if shard not in owners:
                is_held = row.owner is not None and row.expires_at > now
                owners[shard] = f"{row.owner}, by its row" if is_held else None
                expiries += [row.expires_at] if is_held else []
        take, give = moves(self._owner, bridges, owners)
        if self._topic_trouble or any(gap.holds_up for gap in self._topic_gaps):
            take, give = [], list(self._readers)
        for shard in give:
            self._readers[shard][0].stop()
        for shard in take:
            self._take(shard, since[shard])
        return min([self._look_seconds, *((until - now + 1) / 1000 for until in expiries)])

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
        except LeasesAwayError as error:
            _log.warning(
                "bridge not taken off the list of bridges: its entry expires by itself", extra={"error": str(error)}
            )
