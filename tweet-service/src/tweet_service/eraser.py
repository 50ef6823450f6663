"""The loop round erasure: one turn after the other for as long as the process lives, logged and measured."""

import logging
import time
from collections.abc import Callable

from prometheus_client import Counter, Gauge

from murmuration_runtime.errors import StoreAwayError
from murmuration_runtime.metrics import METRICS
from tweet_service.erasure import Erasure

PAUSE_S = 1.0
DUE = Gauge(
    "tweet_eraser_accounts_due", "Deleted accounts whose tweets are not known to be all deleted.", registry=METRICS
)
DELETED = Counter("tweet_eraser_tweets_deleted", "Tweets deleted with their author's account.", registry=METRICS)
ERASED = Counter("tweet_eraser_accounts_erased", "Accounts whose tweets are all deleted for good.", registry=METRICS)
TURNED = Gauge("tweet_eraser_last_turn_timestamp_seconds", "When the last turn was through.", registry=METRICS)
_log = logging.getLogger(__name__)


class Eraser:
    """Turns of one erasure."""

    def __init__(self, erasure: Erasure, sleep: Callable[[float], object] = time.sleep) -> None:
        self._erasure = erasure
        self._sleep = sleep

    def run(self) -> None:
        """Take turns for ever; a store that is away is waited for."""
        reason = ""
        while True:
            unfinished = False
            try:
                unfinished = self.turn()
                reason = ""
            except StoreAwayError as error:
                if str(error) != reason:
                    reason = str(error)
                    _log.warning("erasure waits for the store", extra={"reason": reason})
            if not unfinished:
                self._sleep(PAUSE_S)

    def turn(self) -> bool:
        """Take one turn, and tell whether there is more to do at once."""
        turn = self._erasure.turn()
        DUE.set(turn.due - len(turn.erased))
        DELETED.inc(sum(turn.deleted.values()))
        ERASED.inc(len(turn.erased))
        TURNED.set_to_current_time()
        for author_id, tweets in turn.deleted.items():
            _log.info("tweets deleted", extra={"author_id": author_id, "tweets": tweets})
        for author_id in turn.erased:
            _log.info("account erased", extra={"author_id": author_id})
        return turn.unfinished
