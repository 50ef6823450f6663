"""Far down, a page costs a query for each author followed; what those bring beyond it is held for the pages below.

Rule: only what is long past is held, for that does not change but by deletions and follows. A page looks up every body
anyway, and what is held counts for the same followees only.
"""

from collections.abc import Callable
from typing import NamedTuple, Protocol

from timeline_service.seen import settled_id
from timeline_service.timeline import Run, under

HELD = 120.0  # seconds that somebody may take to read on
MOST_HELD = 256  # readers


class Gathered(Protocol):
    """What brings ids from the database."""

    def __call__(self, author_ids: frozenset[str], below: str, count: int) -> Run:
        """Gather the newest so many ids of these authors below an id, and those that came with them."""


class Held(NamedTuple):
    """What lies ahead of a reader."""

    following: frozenset[str]
    below: str
    run: Run
    until: float


class Ahead:
    """Runs of ids from the database, some of them from an earlier page. Safe among threads."""

    def __init__(self, gathered: Gathered, clock: Callable[[], float]) -> None:
        """Take where they come from, and the time."""
        self._gathered = gathered
        self._clock = clock
        self._held: dict[str, Held] = {}

    def run(self, user_id: str, following: frozenset[str], below: str, count: int) -> Run:
        """Return what lies below an id, about so much of it."""
        now = self._clock()
        held = self._held.get(user_id)
        if held and held.following == following and held.until > now and held.below >= below > held.run.floor:
            return Run(under(held.run.ids, below), held.run.floor)
        run = self._gathered(following, below, count)
        if below < settled_id(now):
            if len(self._held) >= MOST_HELD:
                self._held.clear()
            self._held[user_id] = Held(following, below, run, now + HELD)
        return run
