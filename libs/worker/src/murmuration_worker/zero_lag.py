"""When whatever was committed before a moment has been handled, so that no event of it is on its way. Pure.

Rule: first the bridge says that it has published all that was committed until then, then the group passes the ends that
the topics had after that. What the bridge says of a moment is believed of one `apart` earlier: that is the room for its
clock, for a listing that lags and for an empty page that was no tip.
"""

import time
from collections.abc import Callable, Mapping

from murmuration_runtime.errors import StoreAwayError

APART_SECONDS = 60.0
PATIENCE_SECONDS = 600.0
PAUSE_SECONDS = 1.0

Offsets = Mapping[tuple[str, int], int]
"""An offset of each partition, by the topic's id, which one that is made again does not keep, and a number."""


class NeverStillError(Exception):
    """Events are on their way for longer than anybody would wait; nothing was repaired meanwhile."""


class ZeroLag:
    """Waits until one group has handled what the bridge has published."""

    def __init__(
        self,
        published_until: Callable[[], int],
        ends: Callable[[], Offsets],
        handled: Callable[[], Offsets],
        handler: str,
        patience_seconds: float = PATIENCE_SECONDS,
        apart_seconds: float = APART_SECONDS,
        tell: Callable[[str], object] = lambda _: None,
        now: Callable[[], float] = time.time,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        """published_until: the moment (ms) up to which the bridge says that all is on Kafka. ends: of the partitions.

        handled: how far they are handled. handler: who does that, and what it does with them, for people.
        patience_seconds: how long to wait for events on their way.
        """
        self._published_until = published_until
        self._ends = ends
        self._handled = handled
        self._handler = handler
        self._patience_seconds = patience_seconds
        self._apart_seconds = apart_seconds
        self._tell = tell
        self._now = now
        self._sleep = sleep

    def wait(self) -> None:
        """Return when everything that was committed before now has been handled; raise NeverStillError if in vain."""
        believed_at = self._now() + self._apart_seconds

        def published() -> bool:
            return self._now() >= believed_at and self._published_until() > believed_at * 1000

        self._wait_for("the bridge to publish what was committed", published, believed_at)
        ends: dict[tuple[str, int], int] = {}

        def passed() -> bool:
            handled = self._handled()
            if ends.keys() != handled.keys():  # at first, and when a topic is made again meanwhile
                ends.clear()
                ends.update(self._ends())
            return all(handled.get(partition, -1) >= end for partition, end in ends.items())

        self._wait_for(f"{self._handler} what was published", passed, self._now())

    def _wait_for(self, what: str, holds: Callable[[], bool], earliest: float) -> None:
        deadline = earliest + self._patience_seconds
        self._tell(f"waiting for {what}")
        why = ""
        while True:
            try:
                if holds():
                    return
            except StoreAwayError as error:
                why = f": {error}"
            if self._now() > deadline:
                raise NeverStillError(
                    f"waited {self._patience_seconds:.0f} s for {what}{why}; nothing was repaired meanwhile"
                )
            self._sleep(PAUSE_SECONDS)
