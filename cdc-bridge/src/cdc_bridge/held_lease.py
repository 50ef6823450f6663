"""A lease that this process holds: how far its shard is published, and every write under it.

Rule: a lease is held for its length from the moment when its last successful renewal was sent, on this process's own
steady clock, and once it has run out it never comes back. Nobody else writes these fields.
A checkpoint and a tip are remembered here and written with the next renewal, or when the lease is given back: one write
for each shard and round. Whoever takes the shard of a process that was killed repeats what was published since then.
"""

import threading
from collections.abc import Callable
from dataclasses import replace

from cdc_bridge.gaps import owe_repair
from cdc_bridge.leases import Lease, LeaseLostError, Leases, Progress
from cdc_bridge.lineage import State, published_before


class HeldLease:
    """The right to read one shard, while is_held() says so; its methods may be called from any thread."""

    def __init__(
        self,
        leases: Leases,
        lease: Lease,
        length_ms: int,
        sent_at: int,
        wall: Callable[[], int],
        steady: Callable[[], int],
    ) -> None:
        self.lease = lease
        self._leases = leases
        self._length_ms = length_ms
        self._held_until = sent_at + length_ms
        self._wall = wall
        self._steady = steady
        self._progress = Progress(lease.state, lease.position, lease.since, lease.tip_at)
        self._is_over = False
        self._remembering = threading.Lock()  # for as long as fields are read and written
        self._writing = threading.Lock()  # for as long as a write to the table takes

    @property
    def progress(self) -> Progress:
        """How far the shard is published, whether or not that is written yet."""
        return self._progress

    def is_held(self, now: int) -> bool:
        """Say whether this process may publish; now is its steady clock's."""
        return not self._is_over and now < self._held_until

    def checkpoint(self, position: str) -> None:
        """Remember that everything up to the position is published."""
        with self._remembering:
            self._progress = replace(self._progress, state=State.READING, position=position)

    def note_tip(self, tip_at: int) -> None:
        """Remember until when the shard is published; never moves backwards."""
        with self._remembering:
            self._progress = replace(self._progress, tip_at=max(tip_at, self._progress.tip_at))

    def note_shown(self, shown_until: int) -> None:
        """Remember until when all that the shard has shown is published; never moves backwards."""
        with self._remembering:
            later = max(shown_until, self._progress.shown_until)
            self._progress = replace(self._progress, shown_until=later)

    def opened(self) -> None:
        """Remember that the shard had nothing up to its tip, so that whatever comes is published."""
        with self._remembering:
            self._progress = replace(self._progress, state=State.OPENED)

    def renew(self) -> None:
        """Keep the lease, and write what was remembered; raise LeaseLostError if it is held no more."""
        with self._writing:
            sent_at = self._steady()
            if not self.is_held(sent_at):
                raise LeaseLostError(f"{self.lease.shard_id}: the lease was not renewed in time")
            self._save(self._progress, gives_back=False)
            if not self.is_held(self._steady()):  # its reader may have ended by now
                self._is_over = True
                raise LeaseLostError(f"{self.lease.shard_id}: the renewal took longer than the lease")
            self._held_until = sent_at + self._length_ms

    def owe_repair(self, table: str, gap: str) -> None:
        """Have a job repair what this gap did, if one does: to be written before the gap."""
        owe_repair(self._leases, table, self.lease.shard_id, gap, self._wall(), self.progress.since)

    def go_on(self, gap: str) -> None:
        """Write down a gap, and that the shard goes on at whatever is left of it now."""
        with self._writing, self._remembering:
            was = self._progress
            tip_at = published_before(was.since, was.tip_at)
            left = replace(was, state=State.LEFT, position=None, since=self._wall(), tip_at=tip_at, gap=gap)
            self._save(left, gives_back=False)
            self._progress = left

    def finish(self) -> None:
        """Write that the shard is published to its end, and give the lease back."""
        self._give_back(state=State.ENDED)

    def fail(self, gap: str) -> None:
        """Write down a gap that nobody passes until an operator has cleared it, and give the lease back."""
        self._give_back(state=State.GAP, gap=gap)

    def release(self) -> None:
        """Write what was remembered and give the lease back, for anybody to take at once."""
        self._give_back()

    def _give_back(self, state: State | None = None, gap: str | None = None) -> None:
        with self._writing:
            last = self._progress
            self._save(replace(last, state=state or last.state, gap=gap or last.gap), gives_back=True)
            self._is_over = True

    def _save(self, progress: Progress, *, gives_back: bool) -> None:
        if self._is_over:
            raise LeaseLostError(f"{self.lease.shard_id}: the lease is given back or lost")
        try:
            self._leases.save(self.lease, progress, None if gives_back else self._wall() + self._length_ms)
        except LeaseLostError:
            self._is_over = True
            raise
