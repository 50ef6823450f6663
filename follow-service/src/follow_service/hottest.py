"""Which accounts are written to most, of however many, in little memory. Pure: no I/O, and no clock of its own.

Rule: Space-Saving (Metwally and others, 2005). So many accounts are counted; who comes when all places are taken takes
that of the least, and its count. So a count is never too small, too great by `over` at most, and whoever has more than
their share, of all that was counted by the places, has a place.
"""

from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock

PLACES = 200
WINDOW_S = 60.0


@dataclass(frozen=True)
class Hot:
    """How often somebody was counted: at most `count` times, and at least `count - over`."""

    user_id: str
    count: int
    over: int


class TopK:
    """The accounts that were counted most."""

    def __init__(self, places: int = PLACES) -> None:
        self._places = places
        self._counts: dict[str, tuple[int, int]] = {}  # with by how much each may be too great

    def add(self, user_id: str) -> None:
        """Count somebody."""
        found = self._counts.get(user_id)
        if found is None and len(self._counts) == self._places:
            least = min(self._counts, key=lambda each: self._counts[each][0])
            count, _ = self._counts.pop(least)
            found = count, count
        count, over = found or (0, 0)
        self._counts[user_id] = count + 1, over

    def most(self, number: int) -> list[Hot]:
        """Return those with the greatest counts, the greatest first."""
        ordered = sorted(self._counts.items(), key=lambda each: (-each[1][0], each[0]))
        return [Hot(user_id, *counts) for user_id, counts in ordered[:number]]


class Hottest:
    """The same of the window that is over, while the next is counted; for several threads."""

    def __init__(self, monotonic: Callable[[], float], window_s: float = WINDOW_S) -> None:
        self._monotonic = monotonic
        self._window_s = window_s
        self._lock = Lock()
        self._began = monotonic()
        self._now, self._before = TopK(), TopK()

    def add(self, user_id: str) -> None:
        """Count somebody now."""
        with self._lock:
            self._turn()
            self._now.add(user_id)

    def most(self, number: int) -> list[Hot]:
        """Return who was counted most in the last window that is over."""
        with self._lock:
            self._turn()
            return self._before.most(number)

    def _turn(self) -> None:
        """Begin a new window when the old one is over; one in which nobody came is empty."""
        windows = int((self._monotonic() - self._began) // self._window_s)
        if windows:
            self._before = self._now if windows == 1 else TopK()
            self._now = TopK()
            self._began += windows * self._window_s
