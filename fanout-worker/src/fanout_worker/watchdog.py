"""Ends a worker that has lag and makes no progress, so that the supervisor's next one begins where the group stands.

Rule: time is counted in looks, not by the clock, so that a process that was paused is not judged by the time it slept.
What cannot be asked while Kafka is away is no lag, and an attempt that a store refused is progress: both are waited
out in place, because a new process could do no more.
"""

import logging
import os
import threading
from collections.abc import Callable

from fanout_worker.streams import KafkaAwayError

EVERY_S = 3.0
EXIT_STUCK = 71
EXIT_OTHER_TOPIC = 72
_log = logging.getLogger(__name__)


class Patience:
    """How often in a row there may be lag and no progress."""

    def __init__(self, looks: int) -> None:
        self._looks = looks
        self._stuck = 0
        self._attempts = -1

    def is_over(self, attempts: int, behind: int) -> bool:
        """Look once, at how many attempts there ever were and how much there is still to do."""
        self._stuck = self._stuck + 1 if behind and attempts == self._attempts else 0
        self._attempts = attempts
        return self._stuck >= self._looks


class Watchdog:
    """Looks after a worker from a thread of its own."""

    def __init__(
        self,
        patience_s: float,
        attempts: Callable[[], int],
        behind: Callable[[], int],
        same_topics: Callable[[], bool],
        note: Callable[[str | None], None],
        end: Callable[[int], object] = os._exit,
    ) -> None:
        """Take what to ask at each look, and whom to tell why Kafka could not be asked, or None when it could."""
        self._patience = Patience(max(1, round(patience_s / EVERY_S)))
        self._attempts = attempts
        self._behind = behind
        self._same_topics = same_topics
        self._note = note
        self._end = end

    def start(self) -> None:
        """Look every few seconds for as long as the process lives."""
        threading.Thread(target=self._watch, name="watchdog", daemon=True).start()

    def look(self) -> None:
        """Look once, and end the process where that is better than going on."""
        try:
            if not self._same_topics():
                _log.critical(
                    "a topic was re-created; ending, to begin with the new one. Events may have vanished with the old:"
                    " when the bridge goes on, run `python -m fanout_worker cold --all`"
                )
                self._end(EXIT_OTHER_TOPIC)
            behind = self._behind()
            self._note(None)
        except KafkaAwayError as error:
            behind = 0
            self._note(str(error))
        if self._patience.is_over(self._attempts(), behind):
            _log.critical("no progress in spite of lag; ending, to begin again", extra={"behind": behind})
            self._end(EXIT_STUCK)

    def _watch(self) -> None:
        pause = threading.Event()
        while not pause.wait(EVERY_S):
            self.look()
