"""The hourly recount as a process of its own, with health and metrics on the admin port; after a gap at once."""

import logging
import os
import signal
import time
from collections.abc import Callable
from typing import NoReturn

from contracts import ContractError
from contracts.image import own
from count_aggregator import reconcile_metrics
from count_aggregator.reconcile import Summary
from count_aggregator.recount import TOP, RealParts, Recount
from count_aggregator.settings import ReconcilerSettings
from count_aggregator.topic import SERVICE
from murmuration_runtime import admin, logs
from murmuration_runtime.errors import StoreAwayError
from murmuration_runtime.metrics import METRICS, announce_build
from murmuration_runtime.readiness import Readiness
from murmuration_worker.zero_lag import NeverStillError

SOON_SECONDS = 60.0  # neither a run that failed nor a gap is worth an hour's wait
_log = logging.getLogger(__name__)


def keep_reconciling(settings: ReconcilerSettings, every: float, parts: RealParts) -> NoReturn:
    """Recount the top accounts every so many seconds, and everybody whenever something vanished, until SIGTERM."""
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))  # a container's first process ends only if it says so
    logs.write_json(settings.log_level)
    announce_build(SERVICE, settings.build_commit, own(SERVICE).labels())
    METRICS.register(reconcile_metrics.OF_THE_LAST_RUN)
    readiness = Readiness(*parts.checks)
    admin.start(settings.host, settings.admin_port, readiness.waiting_for)
    for store, check in parts.checks.items():
        readiness.wait(store, check, ContractError)
    readiness.keep_looking(parts.checks)
    recount, top_at = parts.recount, 0.0
    while True:
        if _has_gaps(recount):
            _reconciled(recount.everybody)
        if time.monotonic() >= top_at and _reconciled(lambda: recount.top(TOP)):
            top_at = time.monotonic() + every
        time.sleep(min(SOON_SECONDS, every))


def _has_gaps(recount: Recount) -> bool:
    """Say whether everybody is to be recounted; if nobody can be asked now, look again soon."""
    try:
        gaps = recount.gaps()
    except StoreAwayError as error:
        _log.error("not reconciled; it is tried again soon", extra={"reason": str(error)})
        return False
    reconcile_metrics.GAPS_OWED.set(len(gaps))
    return bool(gaps)


def _reconciled(run: Callable[[], Summary]) -> bool:
    try:
        summary = run()
    except (NeverStillError, StoreAwayError) as error:
        _log.error("not reconciled; it is tried again soon", extra={"reason": str(error)})
        return False
    reconcile_metrics.set_to(summary)
    _log.info("reconciled", extra=summary.told())
    return True
