"""Pages of suggestions that were looked up, held for a second. Pure: the time is an argument.

Rule: what happened is seen within two seconds, so a page that is asked for again and again is looked up once a second.
One's own dismissal is seen at once: it makes another page, and Redis tells every process of it for longer than any of
them holds anything.
"""

from collections.abc import Callable

from follow_service.suggestions import Known, Listed, Page, page

HELD_SECONDS = 1.0
MOST_HELD = 300  # of 30 to 200 KB each

Asked = tuple[str, str, frozenset[str], int, int, bool]


class HeldPages:
    """Pages over what is known of people. Safe among threads."""

    def __init__(self, known: Known, clock: Callable[[], float]) -> None:
        """clock: never steps back."""
        self._known = known
        self._clock = clock
        self._tidy_at = 0.0
        self._held: dict[Asked, tuple[float, Page]] = {}

    def __len__(self) -> int:
        """Return how many pages take memory."""
        return len(self._held)

    def page(self, user_id: str, listed: Listed, limit: int, begin: int, *, named: bool) -> Page:
        """Return a page of a user's list from a place on, as it was within the last second."""
        asked = user_id, listed.name, frozenset(listed.dismissed), limit, begin, named
        now = self._clock()
        if (held := self._held.get(asked)) and held[0] > now:
            return held[1]
        found = page(self._known, user_id, listed, limit, begin, named=named)
        if now >= self._tidy_at:
            self._held, self._tidy_at = (
                {each: held for each, held in [*self._held.items()] if held[0] > now},
                now + HELD_SECONDS,
            )
        if len(self._held) >= MOST_HELD:
            self._held = {}
        self._held[asked] = now + HELD_SECONDS, found
        return found
