"""The celebrities as the index listed them a few seconds ago: whoever is among them is looked up, nobody else.

Rule: an author who is missing here is fanned out, which is harmless; so this may be as old as it likes.
"""

import logging
import threading
from collections.abc import Callable

from fanout_worker.deliveries import StoreAwayError

EVERY_S = 3.0
_log = logging.getLogger(__name__)


class Known:
    """A set that a thread keeps fresh."""

    def __init__(self, read: Callable[[], frozenset[str]]) -> None:
        self._read = read
        self._known: frozenset[str] = frozenset()

    def __contains__(self, user_id: object) -> bool:
        return user_id in self._known

    def refresh(self) -> None:
        """Read the set."""
        self._known = self._read()

    def keep_fresh(self) -> None:
        """Read it again every few seconds for as long as the process lives; while that fails, the old one serves."""
        threading.Thread(target=self._refresh_for_ever, name="celebrities", daemon=True).start()

    def _refresh_for_ever(self) -> None:
        pause = threading.Event()
        while not pause.wait(EVERY_S):
            try:
                self.refresh()
            except StoreAwayError as error:
                _log.warning("the celebrities were not read", extra={"reason": str(error)})
