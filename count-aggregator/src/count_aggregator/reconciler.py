"""The hourly recount as a process of its own, with health and metrics on the admin port."""

import logging
import time
from typing import NoReturn

from contracts import ContractError
from count_aggregator import reconcile_metrics
from count_aggregator.reconcile import NeverStillError
from count_aggregator.recount import Recount
from count_aggregator.settings import ReconcilerSettings
from count_aggregator.topic import SERVICE
from murmuration_runtime import admin, logs
from murmuration_runtime.errors import StoreAwayError
from murmuration_runtime.metrics import METRICS, announce_build
from murmuration_runtime.readiness import Readiness

SOON_SECONDS = 60.0  # a run that failed is not worth an hour's wait
_log = logging.getLogger(__name__)


def keep_reconciling(settings: ReconcilerSettings, every: float, rate: float, patience_seconds: float) -> NoReturn:
    """Recount whom the hourly job recounts, every so many seconds, until SIGTERM."""
    logs.write_json(settings.log_level)
    announce_build(SERVICE, settings.build_commit)
    METRICS.register(reconcile_metrics.OF_THE_LAST_RUN)
    recount = Recount(settings, rate, patience_seconds)
    readiness = Readiness(*recount.checks)
    admin.start(settings.host, settings.admin_port, readiness.waiting_for)
    for store, check in recount.checks.items():
        readiness.wait(store, check, ContractError)
    readiness.keep_looking(recount.checks)
    while True:
        time.sleep(every if _reconciled(recount) else min(SOON_SECONDS, every))


def _reconciled(recount: Recount) -> bool:
    try:
        summary = recount.hourly()
    except (NeverStillError, StoreAwayError) as error:
        _log.error("not reconciled; it is tried again soon", extra={"reason": str(error)})
        return False
    reconcile_metrics.set_to(summary)
    _log.info("reconciled", extra=summary.told())
    return True
