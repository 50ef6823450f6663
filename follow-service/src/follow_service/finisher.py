"""Turns of what is done beside requests, logged and measured."""

import logging
from collections.abc import Mapping
from typing import Any

from prometheus_client import Counter, Gauge

from murmuration_runtime.looks import Looks
from murmuration_runtime.metrics import METRICS

DUE = Gauge(
    "follow_finisher_accounts_due",
    "Accounts that were deleted or went public, and of which something may be left to do; of a work as many as a turn "
    "takes.",
    ["work"],
    registry=METRICS,
)
DONE = Counter(
    "follow_finisher_rows_done", "Rows of deleted accounts deleted, and requests accepted.", ["work"], registry=METRICS
)
FINISHED = Counter(
    "follow_finisher_accounts_finished", "Accounts of which nothing is left.", ["work"], registry=METRICS
)
TURNED = Gauge("follow_finisher_last_turn_timestamp_seconds", "When the last turn was through.", registry=METRICS)
_log = logging.getLogger(__name__)


class Finisher:
    """Turns of several kinds of work, by their names."""

    def __init__(self, works: Mapping[str, Looks[Any, Any]]) -> None:
        self._works = works

    def turn(self) -> bool:
        """Take one turn of each, and tell whether there is more to do at once."""
        unfinished = [self._turn(work, looks) for work, looks in self._works.items()]
        TURNED.set_to_current_time()
        return any(unfinished)

    def _turn(self, work: str, looks: Looks[Any, Any]) -> bool:
        turn = looks.turn()
        DUE.labels(work).set(turn.due - len(turn.finished))
        DONE.labels(work).inc(sum(turn.done.values()))
        FINISHED.labels(work).inc(len(turn.finished))
        for due, rows in turn.done.items():
            _log.info("rows done", extra={"work": work, "user_id": due.user_id, "rows": rows})
        for due in turn.finished:
            _log.info("account finished", extra={"work": work, "user_id": due.user_id})
        return turn.unfinished
