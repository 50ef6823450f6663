"""Who deleted their account, as the index in the database said a moment ago: their tweets do not show any more.

Rule: somebody is in the index from the deletion on, until all their tweets are marked as deleted; then Redis may not
know it yet of each, so whoever was there is remembered for a while. While the database is away, the old set serves.
"""

from collections.abc import Callable, Iterable

from murmuration_runtime.errors import StoreAwayError
from murmuration_runtime.periodic import keep_calling

EVERY_SECONDS = 1.0
REMEMBERED_SECONDS = 600.0


class Departed:
    """A set that a thread keeps fresh."""

    def __init__(self, read: Callable[[], Iterable[str]], clock: Callable[[], float]) -> None:
        """clock: never steps back."""
        self._read = read
        self._clock = clock
        self._until: dict[str, float] | None = None
        self._read_at = clock()

    def __contains__(self, user_id: object) -> bool:
        """Tell whether somebody deleted their account lately."""
        return user_id in (self._until or ())

    def check(self) -> None:
        """Raise StoreAwayError until the set was read; this reads nothing itself: a probe wants its answer at once."""
        if self._until is None:
            raise StoreAwayError("DynamoDB has not yet said who deleted their account")

    def refresh(self) -> None:
        """Read the set."""
        now = self._clock()
        there = dict.fromkeys(self._read(), now + REMEMBERED_SECONDS)
        self._until = {user_id: until for user_id, until in (self._until or {}).items() if until > now} | there
        self._read_at = now

    def age(self) -> float:
        """Return how many seconds ago the set was read."""
        return self._clock() - self._read_at

    def keep_fresh(self) -> None:
        """Read the set every second in a thread, for as long as the process lives."""
        keep_calling("departed", self.refresh, EVERY_SECONDS)
