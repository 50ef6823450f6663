"""The loop: which shards there are, which may be read, which of them are ours.

Rule: whatever may be read and is free or expired is taken, and every lease held is renewed in each round. A shard with
a gap is left alone: skipping what was lost is not for the bridge to decide.
"""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from typing import Protocol

from cdc_bridge import metrics
from cdc_bridge.envelope import Place
from cdc_bridge.leases import Lease, LeaseLostError, LeasesAwayError, Row
from cdc_bridge.lineage import Shard, State, readable, vanished
from cdc_bridge.stream import StreamAwayError
from cdc_bridge.tail import Tail

SILENT_MS = 30_000  # longer than any call with its retries; a shard that is read is heard from twice a second
_log = logging.getLogger(__name__)


class Streams(Protocol):
    """What the loop needs of the streams; stream.Streams."""

    def arn(self, table: str) -> str:
        """Return the table's stream."""

    def shards(self, stream_arn: str) -> Sequence[Shard]:
        """List all its shards."""


class Leases(Protocol):
    """What the loop needs of the leases; leases.LeaseTable."""

    def rows(self, stream_arn: str) -> dict[str, Row]:
        """Return what is known about the stream's shards."""

    def take(self, stream_arn: str, shard_id: str, owner: str, now: int) -> Lease | None:
        """Take a shard if it is free."""

    def renew(self, lease: Lease, now: int) -> int:
        """Keep a shard; return until when."""


class Bridge:
    """Keeps a tail on every shard that this process holds."""

    def __init__(
        self,
        tables: Sequence[str],
        streams: Streams,
        leases: Leases,
        tail: Callable[[Place, Lease], Tail],
        owner: str,
        look_seconds: float,
        grace_seconds: float,
        clock: Callable[[], int],
    ) -> None:
        self._streams = streams
        self._leases = leases
        self._tail = tail
        self._owner = owner
        self._look_seconds = look_seconds
        self._grace_seconds = grace_seconds
        self._clock = clock
        self._tails: dict[Place, tuple[Tail, threading.Thread]] = {}
        self._gaps: dict[Place, str] = {}
        self._seen_at = dict.fromkeys(tables, clock())
        self._trouble: dict[str, str | None] = dict.fromkeys(tables, "not looked for yet")
        self._stopping = threading.Event()
        self._wake = threading.Event()

    def run(self) -> None:
        """Bridge until somebody says stop; then finish the pages in hand and give the leases back."""
        try:
            while not self._stopping.is_set():
                self._wake.clear()
                self.look()
                self._wake.wait(self._look_seconds)
        finally:
            self._close()

    def stop(self) -> None:
        """Ask the loop to end; safe in a signal handler."""
        self._stopping.set()
        self._wake.set()

    def waiting_for(self) -> list[str]:
        """Name everything that keeps the bridge from making progress; nothing means ready."""
        now = self._clock()
        waiting = [f"table {table}: {trouble}" for table, trouble in self._trouble.items() if trouble]
        waiting += [f"table {table}: not seen lately" for table, at in self._seen_at.items() if now - at > SILENT_MS]
        waiting += [f"shard {place.shard_id} of {place.table}: gap: {gap}" for place, gap in list(self._gaps.items())]
        waiting += [
            f"shard {place.shard_id} of {place.table}: no progress for {(now - tail.progressed_at) // 1000} s: "
            f"{tail.trouble or 'no answer yet'}"
            for place, (tail, _) in list(self._tails.items())
            if now - tail.progressed_at > SILENT_MS
        ]
        return waiting

    def look(self) -> None:
        """Do one round: forget tails that have ended, renew, discover and take."""
        self._reap()
        for place, (tail, _) in self._tails.items():
            self._renew(place, tail)
        for table in self._trouble:
            try:
                self._discover(table)
            except (StreamAwayError, LeasesAwayError) as error:
                if self._trouble[table] != str(error):
                    _log.warning("waiting for a table", extra={"table": table, "error": str(error)})
                self._trouble[table] = str(error)
            else:
                self._trouble[table] = None
                self._seen_at[table] = self._clock()
        metrics.HELD.set(len(self._tails))

    def _reap(self) -> None:
        for place, (tail, thread) in list(self._tails.items()):
            if not thread.is_alive():
                del self._tails[place]
                if tail.gap:
                    self._gaps[place] = tail.gap

    def _renew(self, place: Place, tail: Tail) -> None:
        try:
            tail.expires_at = self._leases.renew(tail.lease, self._clock())
        except LeaseLostError:
            tail.expires_at = 0
        except LeasesAwayError as error:
            _log.warning("lease not renewed", extra={"shard_id": place.shard_id, "error": str(error)})

    def _discover(self, table: str) -> None:
        stream_arn = self._streams.arn(table)
        listing = self._streams.shards(stream_arn)
        rows = self._leases.rows(stream_arn)
        states = {shard_id: row.state for shard_id, row in rows.items()}
        for state in State:
            metrics.SHARDS.labels(table, state).set(sum(other is state for other in states.values()))
        for shard_id in vanished(listing, states):
            self._report_gap(Place(table, stream_arn, shard_id), rows[shard_id].position)
        for shard in readable(listing, states):
            place = Place(table, stream_arn, shard.shard_id)
            if place not in self._tails and place not in self._gaps and self._is_free(rows.get(shard.shard_id)):
                self._take(place)

    def _is_free(self, row: Row | None) -> bool:
        return row is None or row.owner is None or row.expires_at <= self._clock()

    def _take(self, place: Place) -> None:
        lease = self._leases.take(place.stream_arn, place.shard_id, self._owner, self._clock())
        if lease is None:
            return
        change = "opened" if lease.epoch == 1 else "taken"
        metrics.LEASE_CHANGES.labels(change).inc()
        about = {"table": place.table, "stream_arn": place.stream_arn, "shard_id": place.shard_id}
        _log.info("shard %s", change, extra={**about, "position": lease.position, "epoch": lease.epoch})
        tail = self._tail(place, lease)
        thread = threading.Thread(target=self._run, args=(tail,), name=place.shard_id)
        self._tails[place] = tail, thread
        thread.start()

    def _run(self, tail: Tail) -> None:
        try:
            tail.run()
        finally:
            self._wake.set()  # its children may go at once

    def _report_gap(self, place: Place, position: str | None) -> None:
        if place in self._gaps or place in self._tails:
            return
        self._gaps[place] = f"vanished from the stream before its end, published up to {position or 'nothing'}"
        metrics.GAPS.labels(place.table, "vanished").inc()
        about = {"table": place.table, "stream_arn": place.stream_arn, "shard_id": place.shard_id}
        _log.error("gap in the stream: its children wait", extra={**about, "error": self._gaps[place]})

    def _close(self) -> None:
        """Let pages end within the grace, while the leases still hold; what takes longer is repeated by others."""
        deadline = time.monotonic() + self._grace_seconds
        for tail, _ in self._tails.values():
            tail.stop()
        for _, thread in self._tails.values():
            thread.join(max(0, deadline - time.monotonic()))
        for tail, _ in self._tails.values():
            tail.give_up()
        for _, thread in self._tails.values():
            thread.join()
