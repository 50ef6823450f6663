"""Pages of suggestions that were looked up, held for a second. Pure: the time is an argument.

Rule: what happened is seen within two seconds, so a page that is asked for again and again is looked up once a second.
Whoever asks meanwhile waits for that look, and makes none of their own. One's own dismissal is seen at once: it makes
another page, and Redis tells every process of it for longer than any of them holds anything.
"""

import threading
from collections.abc import Callable

from follow_service.suggestions import Known, Listed, Page, page
from murmuration_runtime import deadlines

HELD_SECONDS = 1.0
LOOKS_AT_ONCE = 64
MOST_WAITED = 5.0  # seconds, where nobody set a deadline
MOST_HELD = 300  # of 30 to 200 KB each

Asked = tuple[str, str, frozenset[str], int, int, bool]


class HeldPages:
    """Pages over what is known of people. Safe among threads."""

    def __init__(self, known: Known, clock: Callable[[], float]) -> None:
        """clock: never steps back."""
        self._known = known
        self._clock = clock
        self._looking = [threading.Lock() for _ in range(LOOKS_AT_ONCE)]
        self._tidy_at = 0.0
        self._held: dict[Asked, tuple[float, Page]] = {}

    def __len__(self) -> int:
        """Return how many pages take memory."""
        return len(self._held)

    def page(self, user_id: str, listed: Listed, limit: int, begin: int, *, named: bool) -> Page:
        """Return a page of a user's list from a place on, as it was within the last second."""
        asked = user_id, listed.name, frozenset(listed.dismissed), limit, begin, named
        if held := self._fresh(asked):
            return held
        lock = self._looking[hash(asked) % len(self._looking)]
        if not lock.acquire(timeout=deadlines.remaining(MOST_WAITED)):
            raise deadlines.DeadlineError("somebody else looks this page up, and is not done in time")
        try:
            return self._fresh(asked) or self._look(asked, listed)
        finally:
            lock.release()

    def _fresh(self, asked: Asked) -> Page | None:
        held = self._held.get(asked)
        return held[1] if held and held[0] > self._clock() else None

    def _look(self, asked: Asked, listed: Listed) -> Page:
        now = self._clock()
        user_id, _, _, limit, begin, named = asked
        found = page(self._known, user_id, listed, limit, begin, named=named)
        if now >= self._tidy_at:
            self._held = {each: held for each, held in [*self._held.items()] if held[0] > now}
            self._tidy_at = now + HELD_SECONDS
        if len(self._held) >= MOST_HELD:
            self._held = {}
        self._held[asked] = now + HELD_SECONDS, found
        return found
