"""The requests that have begun and not ended, and what they say about the process. Pure: time is an argument.

Rule: a process is stuck when requests wait and none has ended for so many seconds, unless all of them wait for a store:
a restart would not bring that back.
"""

from math import inf

from murmuration_runtime.deadlines import Deadline


class RequestsInFlight:
    """Safe among threads: each step is one of Python's atomic ones."""

    def __init__(self) -> None:
        self._began: dict[Deadline, float] = {}
        self._last_end = -inf

    def begin(self, request: Deadline, now: float) -> None:
        """Note that a request began, which has this deadline."""
        self._began[request] = now

    def end(self, request: Deadline, now: float) -> None:
        """Note that it ended."""
        del self._began[request]
        self._last_end = now

    def are_stuck(self, now: float, seconds: float) -> bool:
        """Tell whether requests have waited for so long for something else than a store."""
        waiting = dict(self._began)
        if not waiting or now - max(self._last_end, min(waiting.values())) < seconds:
            return False
        return not all(request.waits_for for request in waiting)
