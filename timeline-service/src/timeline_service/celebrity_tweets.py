"""Celebrities, whose tweets are not fanned out: who they are, and what they said.

Rule: a celebrity's first tweet that is not fanned out comes 20 s after the promotion was written; the set is read every
3 s. So every reader merges a celebrity's tweets before it has to; merging them earlier or longer does no harm.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterable

from timeline_service.building import Building, chunks
from timeline_service.stores import Timelines
from timeline_service.timeline import Run, StoreAwayError

EVERY = 3.0
HELD = 1.0  # seconds that celebrities' timelines are held in the process: they are the same for every reader
_log = logging.getLogger(__name__)


class Celebrities:
    """Who is a celebrity, as the database said a few seconds ago."""

    def __init__(self, read: Callable[[], Iterable[str]]) -> None:
        """Take what reads the set."""
        self._read = read
        self._known: frozenset[str] | None = None
        self._read_at = time.monotonic()

    def known(self) -> frozenset[str]:
        """Return the set; StoreAwayError while it was never read."""
        return self.refresh() if self._known is None else self._known

    def check(self) -> None:
        """Raise StoreAwayError until the thread has read the set: a probe wants its answer at once."""
        if self._known is None:
            raise StoreAwayError("DynamoDB has not yet said who is a celebrity")

    def refresh(self) -> frozenset[str]:
        """Read the set."""
        self._known = frozenset(self._read())
        self._read_at = time.monotonic()
        return self._known

    def age(self) -> float:
        """Return how many seconds ago the set was read."""
        return time.monotonic() - self._read_at

    def keep_fresh(self) -> None:
        """Read the set again and again, in a thread. While the database is away, the old set serves."""

        def run() -> None:
            while True:
                try:
                    self.refresh()
                except StoreAwayError as error:
                    _log.warning("the celebrities were not read", extra={"reason": str(error)})
                except Exception:  # noqa: BLE001 - whatever it is, the next time may be better
                    _log.exception("the celebrities were not read")
                threading.Event().wait(EVERY)

        threading.Thread(target=run, name="celebrities", daemon=True).start()


class Sayings:
    """What celebrities said: from the process, from the cache, and from the database where that is cold."""

    def __init__(
        self,
        known: Callable[[], frozenset[str]],
        cached: Timelines,
        building: Building,
        wave: int,
        clock: Callable[[], float],
    ) -> None:
        """Take who they are, the cache, what builds the cold, how many the cache is asked for at once, the time."""
        self._known = known
        self._cached = cached
        self._building = building
        self._wave = wave
        self._clock = clock
        self._held: dict[str, tuple[float, Run]] = {}  # and how many ids were asked for
        self._until = 0.0

    def runs(self, following: frozenset[str], count: int | None) -> list[Run]:
        """Return what each celebrity among them said, or about so much of it; many take the cache several waves."""
        if (now := self._clock()) >= self._until:
            self._held, self._until = {}, now + HELD
        held = self._held  # this one, whatever becomes of it: nothing in it is older than it is
        authors, asked = following & self._known(), float("inf") if count is None else count
        missing = [author_id for author_id in authors if author_id not in held or held[author_id][0] < asked]
        for some in chunks(missing, self._wave):
            new: dict[str, Run] = {**self._cached.load(some, count)}
            if cold := [author_id for author_id in some if author_id not in new]:
                new |= self._building.authors(cold)
            held.update((author_id, (asked, run)) for author_id, run in new.items())
        return [held[author_id][1] for author_id in authors]
