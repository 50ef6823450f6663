"""Cold timelines, and pages far down, are read in threads of their own; the requests wait until their deadline.

Rule: one rebuild for each user in a process, and one page far down, with a deadline of its own. So a request that timed
out still helps: the next one joins its rebuild, or finds the timeline warm. The threads are daemons: the end of the
process waits for none.
"""

import logging
import threading
from collections.abc import Callable, Hashable
from concurrent.futures import Future, wait
from contextvars import copy_context
from typing import Any, TypeVar

from murmuration_runtime import deadlines
from murmuration_runtime.deadlines import DeadlineError
from murmuration_runtime.errors import StoreAwayError
from timeline_service.rebuild_slots import BusyError

SECONDS = 30.0  # the longest that a rebuild may take
T = TypeVar("T")
_log = logging.getLogger(__name__)


class BackgroundRebuilds:
    """Safe among threads."""

    def __init__(self) -> None:
        self._running: dict[Hashable, Future[Any]] = {}
        self._changing = threading.Lock()

    def build(self, name: Hashable, build: Callable[[], T]) -> T:
        """Start a rebuild or join the one of this name; raise DeadlineError if it takes longer than the request may."""
        with self._changing:
            rebuild: Future[T] | None = self._running.get(name)
            if rebuild is None:
                rebuild = Future()
                self._start(name, build, rebuild)
                self._running[name] = rebuild
        wait([rebuild], timeout=deadlines.remaining(SECONDS))
        if not rebuild.done():
            raise DeadlineError("the timeline is still being built, and will be there for a later request")
        return rebuild.result()

    def _start(self, name: Hashable, build: Callable[[], T], rebuild: "Future[T]") -> None:
        work = self._work, name, build, rebuild
        try:
            threading.Thread(target=copy_context().run, args=work, name="rebuild", daemon=True).start()
        except RuntimeError as error:
            _log.exception("a rebuild was not started")
            raise BusyError("there is no thread that could build the timeline") from error

    def _work(self, name: Hashable, build: Callable[[], T], rebuild: "Future[T]") -> None:
        try:
            with deadlines.within(SECONDS):
                built = build()
        except Exception as error:  # noqa: BLE001 - whoever waits is told
            if not isinstance(error, StoreAwayError | BusyError):
                _log.exception("a timeline was not built for an unforeseen reason")
            self._forget(name)  # first, so that nobody joins a rebuild that is over
            rebuild.set_exception(error)
        else:
            self._forget(name)
            rebuild.set_result(built)

    def _forget(self, name: Hashable) -> None:
        with self._changing:
            del self._running[name]
