"""Who is a celebrity, as the index in the database said a few seconds ago.

Rule: a celebrity's first tweet that is not pushed comes CELEBRITY_AHEAD (20 s) after the promotion was written, and the
set is read every 3 s: so every reader merges a celebrity's tweets before it has to. To merge them earlier or longer, or
to push to everybody an author whom the set lacks, is harmless; so while the database is away, the old set serves.
"""

import time
from collections.abc import Callable, Iterable

from murmuration_runtime.errors import StoreAwayError
from murmuration_runtime.periodic import keep_calling
from murmuration_timelines.shown import Shown, digest

EVERY_SECONDS = 3.0


class CelebrityIndex:
    """A set that a thread keeps fresh."""

    def __init__(self, read: Callable[[], Iterable[str]], clock: Callable[[], float] = time.monotonic) -> None:
        self._read = read
        self._clock = clock
        self._celebrities: frozenset[str] | None = None
        self._digests: dict[bytes, str] = {}
        self._read_at = clock()

    def celebrities(self) -> frozenset[str]:
        """Return the set; read it now if it never was."""
        return self.refresh() if self._celebrities is None else self._celebrities

    def lists(self, user_id: str) -> bool:
        """Tell whether somebody is in the set."""
        return user_id in self.celebrities()

    def among(self, shown: Shown) -> list[str]:
        """Return the celebrities among those whose tweets a timeline shows."""
        self.celebrities()
        return shown.among(self._digests)

    def check(self) -> None:
        """Raise StoreAwayError until the set was read; this reads nothing itself: a probe wants its answer at once."""
        if self._celebrities is None:
            raise StoreAwayError("DynamoDB has not yet said who is a celebrity")

    def refresh(self) -> frozenset[str]:
        """Read the set."""
        celebrities = frozenset(self._read())
        self._digests = {digest(each): each for each in celebrities}
        self._celebrities = celebrities
        self._read_at = self._clock()
        return self._celebrities

    def age(self) -> float:
        """Return how many seconds ago the set was read."""
        return self._clock() - self._read_at

    def keep_fresh(self) -> None:
        """Read the set every few seconds in a thread, for as long as the process lives."""
        keep_calling("celebrities", self.refresh, EVERY_SECONDS)
