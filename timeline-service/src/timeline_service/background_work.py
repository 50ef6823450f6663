"""What is done beside the requests, and nobody waits for.

Rule: one thing at a time, in a thread of its own, with a deadline of its own. What comes meanwhile is not begun: a
later page brings it again. The thread is a daemon: the end of the process does not wait for it.
"""

import logging
import threading
from collections.abc import Callable
from functools import partial

from murmuration_runtime import deadlines
from murmuration_runtime.errors import StoreAwayError

SECONDS = 30.0  # the longest that one thing may take
_log = logging.getLogger(__name__)


def in_a_thread(work: Callable[[], object]) -> None:
    """Work in a thread that nobody waits for."""
    threading.Thread(target=work, name="background", daemon=True).start()


class BackgroundWork:
    """Safe among threads."""

    def __init__(self, failed: str, start: Callable[[Callable[[], object]], object] = in_a_thread) -> None:
        """failed: what the log says of work that failed."""
        self._failed = failed
        self._start = start
        self._busy = threading.Lock()

    def begin(self, work: Callable[[], object]) -> bool:
        """Begin this; False if something else is not done yet, or there is no thread for it."""
        if not self._busy.acquire(blocking=False):
            return False
        try:
            self._start(partial(self._work, work))
        except RuntimeError:
            self._busy.release()
            return False
        return True

    def _work(self, work: Callable[[], object]) -> None:
        try:
            with deadlines.within(SECONDS):
                work()
        except StoreAwayError as error:
            _log.warning(self._failed, extra={"reason": str(error)})
        except Exception:  # noqa: BLE001 - nobody waits for it, and the next try may be better
            _log.exception("%s for an unforeseen reason", self._failed)
        finally:
            self._busy.release()
