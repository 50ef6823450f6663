"""What remains of accounts that were deleted: follows, requests, blocks, mutes and dismissals. Pure.

Rule: rows are deleted one by one, as their owner could have done it, so that the stream of each table tells everybody
else. An account that is gone can begin nothing, so what comes late was under way when it went.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from murmuration_runtime.looks import Looks


@dataclass(frozen=True)
class Departed:
    """An account that was deleted, and when."""

    user_id: str
    deleted_at: int


class Remains(Protocol):
    """What is left of deleted accounts; a place in it is whatever the store takes back."""

    def due(self) -> list[Departed]:
        """List the deleted accounts of which something may be left: those who left first, as many as a turn takes."""

    def remains(self, user_id: str, place: Any) -> tuple[list[Any], Any]:
        """Return some rows that are left of an account, and the place behind them; None at the end."""

    def delete(self, row: Any) -> None:
        """Delete a row if it is there."""

    def departed(self, due: Departed) -> None:
        """Take an account off the list, if it is there."""


@dataclass(frozen=True)
class Departures:
    """The remains of all accounts that are due, as work for Looks."""

    store: Remains
    now: Callable[[], int]
    pace: Callable[[], object]
    settled_ms: int

    def looks(self) -> Looks[Departed, Any]:
        """Return what does this work."""
        return Looks(self, self.now, self.pace)

    def due(self) -> list[Departed]:
        """List the accounts."""
        return self.store.due()

    def settled_at(self, due: Departed) -> int:
        """Return when whatever was under way has come, and indexes show it."""
        return due.deleted_at + self.settled_ms

    def take(self, due: Departed, place: Any) -> tuple[int, Any]:
        """Delete a page of what is left of an account."""
        rows, rest = self.store.remains(due.user_id, place)
        for row in rows:
            self.pace()
            self.store.delete(row)
        return len(rows), rest

    def finish(self, due: Departed) -> None:
        """Take an account off the list."""
        self.store.departed(due)
