"""Which snapshots of a table are owed, and how far the one under way has come: rows of `snapshots` in leases.

Rule: whoever may have missed changes of a table writes first that a snapshot is owed (gaps.py). A run claims what is
owed when it begins, and pays that and no more when it has told every row: what was missed later needs another run.
Every write is conditional on the row as it was read, so of two runs at once one ends.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from cdc_bridge.leases import Leases
from cdc_bridge.lineage import Row, State
from contracts.tables import LEASES


class OvertakenError(Exception):
    """Another run is at work."""


class OwedSnapshots:
    """What is owed of one table."""

    def __init__(self, leases: Leases, table: str, wall: Callable[[], int]) -> None:
        self._leases = leases
        self._table = table
        self._wall = wall
        self._run = Row(table, State.ENDED)

    def owed(self) -> Sequence[Row]:
        """Return why a snapshot is owed: whatever no run has paid yet."""
        return [row for name, row in self._rows().items() if name != self._table and row.gap]

    def is_under_way(self) -> bool:
        """Say whether a run has begun and not ended."""
        return self._rows().get(self._table, self._run).state is State.READING

    def begin(self) -> str | None:
        """Begin a run, or take up the last one; return behind which account it goes on, None for the beginning."""
        self._leases.note(LEASES.snapshots(), self._run)
        self._run = self._rows()[self._table]
        if self._run.state is not State.READING:
            for row in self.owed():
                self._write(row, replace(row, state=State.READING))
            self._save(replace(self._run, state=State.READING, position=None, since=self._wall()))
        return self._run.position

    def save(self, last: str) -> None:
        """Remember the last account of the pages that are told."""
        self._save(replace(self._run, position=last))

    def end(self) -> None:
        """Pay what was owed when the run began."""
        for row in self.owed():
            if row.state is State.READING:
                self._leases.prune(LEASES.snapshots(), row)
        self._save(replace(self._run, state=State.ENDED, position=None, tip_at=self._wall()))

    def _rows(self) -> dict[str, Row]:
        return self._leases.rows(LEASES.snapshots())

    def _save(self, becomes: Row) -> None:
        self._write(self._run, becomes)
        self._run = replace(becomes, epoch=self._run.epoch + 1)

    def _write(self, was: Row, becomes: Row) -> None:
        if not self._leases.overrule(LEASES.snapshots(), was, becomes):
            raise OvertakenError(f"another snapshot of {self._table} is at work")
