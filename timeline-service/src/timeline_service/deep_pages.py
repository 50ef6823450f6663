"""Far down, a page costs a query for each author followed; what those bring beyond it is held for the pages below.

Rule: only what is long past is held, for that does not change but by deletions and follows. A page looks up every body
anyway, and what is held counts for the same followees only.
"""

from collections.abc import Callable
from typing import NamedTuple

from murmuration_timelines.merge import Run, older
from timeline_service.since_mark import settled_id

HELD_SECONDS = 120.0  # that somebody may take to read on
MOST_HELD = 256  # readers


class Held(NamedTuple):
    """What lies below the last page of a reader."""

    followees: frozenset[str]
    below: str
    run: Run
    until: float


class DeepPages:
    """Runs of ids from the database, some of them read for an earlier page. Safe among threads."""

    def __init__(self, gather: Callable[[frozenset[str], str, int], Run], clock: Callable[[], float]) -> None:
        """gather: reads from the database the newest so many ids of some authors below an id, or a few more."""
        self._gather = gather
        self._clock = clock
        self._held: dict[str, Held] = {}

    def run(self, user_id: str, followees: frozenset[str], below: str, count: int) -> Run:
        """Return what lies below an id, about so much of it."""
        now = self._clock()
        held = self._held.get(user_id)
        if held and held.followees == followees and held.until > now and held.below >= below > held.run.floor:
            return Run(older(held.run.ids, below), held.run.floor)
        run = self._gather(followees, below, count)
        if below < settled_id(now):
            if len(self._held) >= MOST_HELD:
                self._held.clear()
            self._held[user_id] = Held(followees, below, run, now + HELD_SECONDS)
        return run
