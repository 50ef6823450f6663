"""The loop: which shards there are, which may be read, which of them are ours.

Rule: whatever may be read and is nobody's is taken until we hold our share, and every lease held is renewed in each
round. What is wrong with one table keeps no other from being read; what is wrong with a topic stops everything.
"""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from typing import Protocol

from cdc_bridge import metrics
from cdc_bridge.balance import moves
from cdc_bridge.discovery import Found, Survey
from cdc_bridge.gaps import Gap
from cdc_bridge.lease_table import Lease, LeaseLostError, LeasesAwayError
from cdc_bridge.message import Place
from cdc_bridge.publisher import KafkaAwayError
from cdc_bridge.shard_reader import Tail
from cdc_bridge.stream import StreamAwayError
from contracts import ContractError

SILENT_MS = 30_000  # longer than any call with its retries; a shard that is read is heard from twice a second
_log = logging.getLogger(__name__)


class Leases(Protocol):
    """What the loop needs of the leases; leases.LeaseTable."""

    def take(self, stream_arn: str, shard_id: str, owner: str, now: int, since: int) -> Lease | None:
        """Take a shard if it is free."""

    def renew(self, lease: Lease, now: int, tip_at: int) -> int:
        """Keep a shard; return until when."""

    def live(self, owner: str, now: int) -> dict[str, int]:
        """Say that we are alive; return who is, and until when."""

    def leave(self, owner: str) -> None:
        """Say that we are gone."""


class Bridge:
    """Keeps a tail on this process's share of the shards."""

    def __init__(
        self,
        tables: Sequence[str],
        survey: Survey,
        leases: Leases,
        tail: Callable[[Place, Lease], Tail],
        owner: str,
        look_seconds: float,
        grace_seconds: float,
        clock: Callable[[], int],
    ) -> None:
        self._survey = survey
        self._leases = leases
        self._tail = tail
        self._owner = owner
        self._look_seconds = look_seconds
        self._grace_seconds = grace_seconds
        self._clock = clock
        self._tails: dict[Place, tuple[Tail, threading.Thread]] = {}
        self._found = {table: Found({}, []) for table in tables}
        self._topic_gaps: Sequence[Gap] = []
        self._topic_trouble: str | None = None
        self._seen_at = dict.fromkeys(tables, clock())
        self._trouble: dict[str, str | None] = dict.fromkeys(tables, "not looked for yet")
        self._stopping = threading.Event()
        self._wake = threading.Event()

    def run(self) -> None:
        """Bridge until somebody says stop; then finish the pages in hand and give the leases back."""
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
            f"shard {place.shard_id} of {place.table}: no progress for {(now - tail.progressed_at) // 1000} s: "
            f"{tail.trouble or 'no answer yet'}"
            for place, (tail, _) in list(self._tails.items())
            if now - tail.progressed_at > SILENT_MS
        ]
        return waiting

    def look(self) -> float:
        """Do one round: renew, discover, take and give back; return in how many seconds the next one is due."""
        self._reap()
        for place, (tail, _) in self._tails.items():
            self._renew(place, tail)
        for table in self._trouble:
            try:
                self._found[table] = self._survey.table(table)
            except (StreamAwayError, LeasesAwayError) as error:
                if self._trouble[table] != str(error):
                    _log.warning("waiting for a table", extra={"table": table, "error": str(error)})
                self._trouble[table] = str(error)
            else:
                self._trouble[table] = None
                self._seen_at[table] = self._clock()
        try:
            self._look_at_topics()
            return self._share()
        except LeasesAwayError as error:
            _log.warning("shards not shared out", extra={"error": str(error)})
            return self._look_seconds
        finally:
            metrics.HELD.set(len(self._tails))

    def _open_gaps(self) -> list[Gap]:
        return [*self._topic_gaps, *(gap for found in list(self._found.values()) for gap in found.gaps)]

    def _look_at_topics(self) -> None:
        """Stop while a topic is not what it was; while Kafka is away, the tails wait by themselves."""
        try:
            self._topic_gaps = self._survey.topics()
            self._topic_trouble = None
        except KafkaAwayError:
            return
        except ContractError as error:
            if self._topic_trouble is None:
                _log.error("nothing is published any more", extra={"error": str(error)})
            self._topic_trouble = str(error)

    def _reap(self) -> None:
        for place, (_, thread) in list(self._tails.items()):
            if not thread.is_alive():
                del self._tails[place]

    def _renew(self, place: Place, tail: Tail) -> None:
        try:
            tail.expires_at = self._leases.renew(tail.lease, self._clock(), tail.tip_at)
        except LeaseLostError:
            tail.expires_at = 0
        except LeasesAwayError as error:
            _log.warning("lease not renewed", extra={"shard_id": place.shard_id, "error": str(error)})

    def _share(self) -> float:
        """Take what is free up to our share, give back what is above it; return when somebody's lease runs out."""
        now = self._clock()
        bridges = self._leases.live(self._owner, now)
        owners: dict[Place, str | None] = dict.fromkeys(self._tails, self._owner)
        expiries = [until for name, until in bridges.items() if name != self._owner]
        since: dict[Place, int] = {}
        for place, row in ((p, r) for found in self._found.values() for p, r in found.readable.items()):
            since[place] = row.since
            if place not in owners:
                is_held = row.owner is not None and row.expires_at > now
                owners[place] = f"{row.owner}, by its row" if is_held else None
                expiries += [row.expires_at] if is_held else []
        take, give = moves(self._owner, bridges, owners)
        if self._topic_trouble or any(gap.holds_up for gap in self._topic_gaps):
            take, give = [], list(self._tails)
        for place in give:
            self._tails[place][0].stop()
        for place in take:
            self._take(place, since[place])
        return min([self._look_seconds, *((until - now + 1) / 1000 for until in expiries)])

    def _take(self, place: Place, since: int) -> None:
        lease = self._leases.take(place.stream_arn, place.shard_id, self._owner, self._clock(), since)
        if lease is None:
            return
        change = "opened" if lease.epoch == 1 else "taken"
        metrics.LEASE_CHANGES.labels(change).inc()
        about = {"table": place.table, "stream_arn": place.stream_arn, "shard_id": place.shard_id}
        _log.info("shard %s", change, extra={**about, "position": lease.position, "epoch": lease.epoch})
        tail = self._tail(place, lease)
        thread = self._thread(tail)
        self._tails[place] = tail, thread
        thread.start()

    def _thread(self, tail: Tail) -> threading.Thread:
        return threading.Thread(target=self._run, args=(tail,), name=tail.place.shard_id)

    def _run(self, tail: Tail) -> None:
        try:
            tail.run()
        finally:
            self._wake.set()  # its children may go at once

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
        try:
            self._leases.leave(self._owner)
        except LeasesAwayError as error:
            _log.warning("not taken off the list of bridges: it expires", extra={"error": str(error)})
