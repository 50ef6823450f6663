"""Turns of erasure, logged and measured."""

import logging

from prometheus_client import Counter, Gauge

from murmuration_runtime.looks import Looks
from murmuration_runtime.metrics import METRICS
from tweet_service.erasure import Due

DUE = Gauge(
    "tweet_eraser_accounts_due", "Deleted accounts whose tweets are not known to be all deleted.", registry=METRICS
)
DELETED = Counter("tweet_eraser_tweets_deleted", "Tweets deleted with their author's account.", registry=METRICS)
ERASED = Counter("tweet_eraser_accounts_erased", "Accounts whose tweets are all deleted for good.", registry=METRICS)
TURNED = Gauge("tweet_eraser_last_turn_timestamp_seconds", "When the last turn was through.", registry=METRICS)
_log = logging.getLogger(__name__)


class Eraser:
    """Turns of one erasure."""

    def __init__(self, erasure: Looks[Due, str]) -> None:
        self._erasure = erasure

    def turn(self) -> bool:
        """Take one turn, and tell whether there is more to do at once."""
        turn = self._erasure.turn()
        DUE.set(turn.due - len(turn.finished))
        DELETED.inc(sum(turn.done.values()))
        ERASED.inc(len(turn.finished))
        TURNED.set_to_current_time()
        for due, tweets in turn.done.items():
            _log.info("tweets deleted", extra={"author_id": due.author_id, "tweets": tweets})
        for due in turn.finished:
            _log.info("account erased", extra={"author_id": due.author_id})
        return turn.unfinished
