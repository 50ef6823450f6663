"""One turn of work after the other for as long as the process lives; a store that is away is waited for."""

import logging
import time
from collections.abc import Callable

from murmuration_runtime.errors import StoreAwayError

PAUSE_S = 1.0
_log = logging.getLogger(__name__)


def take_turns(work: str, turn: Callable[[], bool], sleep: Callable[[float], object] = time.sleep) -> None:
    """Take turns for ever; turn tells whether there is more to do at once."""
    reason = ""
    while True:
        unfinished = False
        try:
            unfinished = turn()
            reason = ""
        except StoreAwayError as error:
            if str(error) != reason:
                reason = str(error)
                _log.warning("%s waits for the store", work, extra={"reason": reason})
        if not unfinished:
            sleep(PAUSE_S)
