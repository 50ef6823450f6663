"""Ends a worker that has lag and makes no progress, so that the supervisor's next one begins where the group stands.

Rule: time is counted in looks, not by the clock, so that a process that was paused is not judged by the time it slept.
What cannot be asked while Kafka is away is no lag, and an attempt that a store refused is progress: both are waited
out in place, because a new process could do no more. Whatever else a look meets, there is a next look.
"""

import logging
import os
import threading
from collections.abc import Callable

from contracts import ContractError
from murmuration_runtime.errors import StoreAwayError
from murmuration_worker import exits

EVERY_SECONDS = 3.0
_log = logging.getLogger(__name__)


class Patience:
    """How often in a row there may be lag and no progress."""

    def __init__(self, looks: int) -> None:
        self._looks = looks
        self._stuck = 0
        self._heartbeats = -1

    def is_over(self, heartbeats: int, behind: int) -> bool:
        """Look once, at how many heartbeats there ever were and how much there is still to do."""
        self._stuck = self._stuck + 1 if behind and heartbeats == self._heartbeats else 0
        self._heartbeats = heartbeats
        return self._stuck >= self._looks


class Watchdog:
    """Looks after a worker from a thread of its own."""

    def __init__(
        self,
        patience_seconds: float,
        heartbeats: Callable[[], int],
        behind: Callable[[], int],
        are_same_topics: Callable[[], bool],
        repair: str | None,
        end: Callable[[int], object] = os._exit,
    ) -> None:
        """Take what to ask at each look, and the command that makes up for events which went with a topic."""
        self._patience = Patience(max(1, round(patience_seconds / EVERY_SECONDS)))
        self._heartbeats = heartbeats
        self._behind = behind
        self._are_same_topics = are_same_topics
        self._repair = repair
        self._end = end

    def start(self) -> None:
        """Look every few seconds for as long as the process lives."""
        threading.Thread(target=self._watch, name="watchdog", daemon=True).start()

    def look(self) -> None:
        """Look once, and end the process where that is better than going on."""
        behind = 0
        try:
            if not self._are_same_topics():
                self._end_with_topic("it has another id")
            behind = self._behind()
        except ContractError as error:  # another number of partitions: it was re-created, or somebody has grown it
            self._end_with_topic(str(error))
        except StoreAwayError:
            pass
        except Exception:  # noqa: BLE001 - see the rule
            _log.exception("the watchdog could not look; it looks again")
        if self._patience.is_over(self._heartbeats(), behind):
            _log.critical("no progress in spite of lag; ending, to begin again", extra={"behind": behind})
            self._end(exits.STUCK)

    def _end_with_topic(self, reason: str) -> None:
        repair = f": when the bridge goes on, run `{self._repair}`" if self._repair else ""
        _log.critical(
            "a topic was re-created; ending, to begin with the new one. Events may have vanished with the old%s",
            repair,
            extra={"reason": reason},
        )
        self._end(exits.OTHER_TOPIC)

    def _watch(self) -> None:
        pause = threading.Event()
        while not pause.wait(EVERY_SECONDS):
            self.look()
