"""What is gone for good: absent in several looks, some time apart. Pure: time is an argument.

Rule: AWS's listings lag, and may leave out a shard that is open. One look without it means nothing.
"""

from collections.abc import Collection, Hashable
from typing import TypeVar

Name = TypeVar("Name", bound=Hashable)
LOOKS = 5
APART_MS = 20_000


class Absences:
    """Remembers since when what has been absent, in one place."""

    def __init__(self) -> None:
        self._absent: dict[Hashable, tuple[int, int]] = {}
        self.gone: Collection[Hashable] = ()  # what the last look returned

    def look(self, absent: Collection[Name], now: int) -> set[Name]:
        """Return what has been absent in each look for long enough; whatever is not named now is there again."""
        before, self._absent = self._absent, {}
        for name in absent:
            since, looks = before.get(name, (now, 0))
            self._absent[name] = (since, looks + 1)
        self.gone = gone = {name for name in absent if self._is_for_good(*self._absent[name], now)}
        return gone

    @staticmethod
    def _is_for_good(since: int, looks: int, now: int) -> bool:
        return looks >= LOOKS and now - since >= APART_MS
