"""Which owners are dead: their rows stood still for a lease's length. Pure: time is an argument.

Rule: no machine's clock is compared with another's. An owner that lives changes its row with each renewal; a row in
which nothing changed for a lease's length of our own steady clock is a dead owner's, whatever it says about time.
An owner up to 0.2.0 counts no renewals; its expires_at is what changes.
"""

from collections.abc import Hashable, Mapping
from typing import TypeVar

from cdc_bridge.lineage import Row

Key = TypeVar("Key", bound=Hashable)
_Sign = tuple[str | None, int, int, int]


def _sign(row: Row) -> _Sign:
    return row.owner, row.epoch, row.renewals, row.expires_at


class Expiry:
    """Remembers since when each row has stood still."""

    def __init__(self, length_ms: int) -> None:
        self._length_ms = length_ms
        self._still: dict[Hashable, tuple[_Sign, int]] = {}

    def look(self, rows: Mapping[Key, Row], now: int) -> dict[Key, int]:
        """Return until when each row's owner is believed to live; rows that are gone are forgotten.

        now is our steady clock's when the rows had been read: no renewal that we have not seen was sent before.
        """
        before, self._still = self._still, {}
        until: dict[Key, int] = {}
        for key, row in rows.items():
            sign, since = before.get(key, (None, now))
            self._still[key] = (_sign(row), since if sign == _sign(row) else now)
            until[key] = self._still[key][1] + self._length_ms
        return until
