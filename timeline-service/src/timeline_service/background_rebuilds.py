"""Cold timelines are built in threads of their own; the requests wait for them until their deadline.

Rule: one rebuild for each user in a process, with a deadline of its own. So a request that timed out still helps: the
next one joins its rebuild, or finds the timeline warm. The threads are daemons: the end of the process waits for none.
"""

import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from contextvars import copy_context

from murmuration_runtime import deadlines
from murmuration_runtime.deadlines import DeadlineError
from murmuration_runtime.errors import StoreAwayError
from murmuration_timelines.merge import Timeline
from timeline_service.rebuild_slots import BusyError

SECONDS = 30.0  # the longest that a rebuild may take
_log = logging.getLogger(__name__)


class BackgroundRebuilds:
    """Safe among threads."""

    def __init__(self) -> None:
        self._running: dict[str, Future[Timeline]] = {}
        self._changing = threading.Lock()

    def build(self, user_id: str, build: Callable[[], Timeline]) -> Timeline:
        """Start a rebuild or join the one that runs; raise DeadlineError if it takes longer than this request may."""
        with self._changing:
            rebuild = self._running.get(user_id)
            if rebuild is None:
                rebuild = Future()
                self._start(user_id, build, rebuild)
                self._running[user_id] = rebuild
        wait([rebuild], timeout=deadlines.remaining(SECONDS))
        if not rebuild.done():
            raise DeadlineError("the timeline is still being built, and will be there for a later request")
        return rebuild.result()

    def _start(self, user_id: str, build: Callable[[], Timeline], rebuild: "Future[Timeline]") -> None:
        work = self._work, user_id, build, rebuild
        try:
            threading.Thread(target=copy_context().run, args=work, name="rebuild", daemon=True).start()
        except RuntimeError as error:
            _log.exception("a rebuild was not started")
            raise BusyError("there is no thread that could build the timeline") from error

    def _work(self, user_id: str, build: Callable[[], Timeline], rebuild: "Future[Timeline]") -> None:
        try:
            with deadlines.within(SECONDS):
                timeline = build()
        except Exception as error:  # noqa: BLE001 - whoever waits is told
            if not isinstance(error, StoreAwayError | BusyError):
                _log.exception("a timeline was not built for an unforeseen reason")
            self._forget(user_id)  # first, so that nobody joins a rebuild that is over
            rebuild.set_exception(error)
        else:
            self._forget(user_id)
            rebuild.set_result(timeline)

    def _forget(self, user_id: str) -> None:
        with self._changing:
            del self._running[user_id]
