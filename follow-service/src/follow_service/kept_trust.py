"""Whether requests may rest on what is kept. Pure: no clock, no I/O.

Rule: they may while it is known that it is settled to within some seconds. While the tables do not answer, nothing can
be looked up and nothing can change either: so what was settled when they were last heard is shown as it is. Tables that
refuse this process answer others.
"""

from collections.abc import Callable

from murmuration_runtime.errors import StoreAwayError, StoreRefusedError
from murmuration_runtime.settled_mark import SettledMark


class KeptTrust:
    """What this process heard of what is kept, and of the tables."""

    def __init__(self, mark: SettledMark, now: Callable[[], float]) -> None:
        self._mark = mark
        self._now = now
        self._heard_at = 0.0
        self._are_silent = False

    def is_settled(self) -> bool:
        """Tell whether a request may rest on what is kept."""
        return self._mark.is_fresh() or (self._are_silent and self._mark.was_fresh_when(self._heard_at))

    def listening(self, check: Callable[[], object]) -> Callable[[], None]:
        """Return this check of the tables, which is made every few seconds, and is listened to."""

        def listen() -> None:
            began = self._now()
            try:
                check()
            except StoreAwayError as error:
                self._are_silent = not isinstance(error, StoreRefusedError)
                raise
            self._heard_at, self._are_silent = began, False

        return listen
