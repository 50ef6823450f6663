"""Whether this process is ready, and what it waits for if not.

Rule: readiness speaks of this process alone: it still starts, a store refuses it, it lacks a schema. What all replicas
share (a store that is away, lag, a gap) is a metric: being unready would block the deployment that mends it.
"""

import logging
import threading
import time
from collections.abc import Callable, Mapping
from typing import TypeVar

from murmuration_runtime.errors import StoreAwayError, StoreRefusedError
from murmuration_runtime.metrics import STORE_UP

Check = Callable[[], object]
Answer = TypeVar("Answer")
CHECK_SECONDS = 5.0
_log = logging.getLogger(__name__)


class Readiness:
    """What a process waits for, by name. Safe among threads."""

    def __init__(self, *names: str) -> None:
        self._waiting = {name: f"{name}: not checked yet" for name in names}
        self._changing = threading.Lock()

    def waiting_for(self) -> list[str]:
        """Return a sentence for each thing that is missing; none means ready."""
        with self._changing:
            return list(self._waiting.values())

    def lacks(self, name: str, reason: object) -> None:
        """Note that something is missing, and log it if that is news."""
        sentence = f"{name}: {reason}"
        with self._changing:
            news = self._waiting.get(name) != sentence
            self._waiting[name] = sentence
        if news:
            _log.warning("not ready", extra={"waiting_for": sentence})

    def has(self, name: str) -> None:
        """Note that something is no longer missing, and log it when nothing is."""
        with self._changing:
            news = self._waiting.pop(name, None) is not None and not self._waiting
        if news:
            _log.info("ready")

    def wait(
        self,
        name: str,
        attempt: Callable[[], Answer],
        *away: type[Exception],
        pause: float = 1.0,
        sleep: Callable[[float], object] = time.sleep,
    ) -> Answer:
        """Try until it succeeds, or fails otherwise than by a store that is away; return what it returned."""
        waited_for: tuple[type[Exception], ...] = (StoreAwayError, *away)
        while True:
            try:
                answer = attempt()
            except waited_for as error:
                self.lacks(name, error)
            else:
                self.has(name)
                return answer
            sleep(pause)

    def look(self, checks: Mapping[str, Check]) -> None:
        """Check each store once. One that has answered before and is only away now does not make us unready."""
        for name, check in checks.items():
            try:
                check()
            except Exception as error:  # noqa: BLE001 - whatever it is, the other stores are checked too
                if not isinstance(error, StoreAwayError):
                    _log.exception("a check failed for an unforeseen reason", extra={"check": name})
                STORE_UP.labels(name).set(0)
                with self._changing:
                    starting = name in self._waiting
                if starting or isinstance(error, StoreRefusedError):
                    self.lacks(name, error)
            else:
                STORE_UP.labels(name).set(1)
                self.has(name)

    def keep_looking(self, checks: Mapping[str, Check]) -> None:
        """Check the stores every few seconds in a thread, for as long as the process lives."""

        def run() -> None:
            while True:
                self.look(checks)
                never.wait(CHECK_SECONDS if not self.waiting_for() else 1.0)

        never = threading.Event()
        threading.Thread(target=run, name="readiness", daemon=True).start()
