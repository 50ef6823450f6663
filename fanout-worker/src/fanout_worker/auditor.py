"""Timelines compared with the tables: once, or hourly as a process of its own with health and metrics."""

import argparse
import json
import logging
import os
import signal
import sys
import time
from pathlib import Path
from typing import NoReturn

from prometheus_client import write_to_textfile

from contracts import ContractError
from contracts.image import own
from fanout_worker import audit_metrics
from fanout_worker.audit_parts import AuditParts
from fanout_worker.settings import AuditorSettings, JobSettings
from fanout_worker.topics import SERVICE
from murmuration_runtime import admin, logs
from murmuration_runtime.errors import StoreAwayError
from murmuration_runtime.metrics import METRICS, announce_build
from murmuration_runtime.readiness import Readiness
from murmuration_runtime.settings import read
from murmuration_worker.zero_lag import APART_SECONDS, PATIENCE_SECONDS, NeverStillError

SAMPLE = 100
SOON_SECONDS = 60.0  # a run that failed is not worth an hour's wait
_log = logging.getLogger(__name__)


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Name the command and what may be asked of it."""
    audit = commands.add_parser("audit", help="some warm timelines against the tables; what differs is made cold")
    which = audit.add_mutually_exclusive_group()
    which.add_argument("--sample", type=int, default=SAMPLE, metavar="N", help="so many by chance (%(default)s)")
    which.add_argument("--user", nargs="+", metavar="ID", help="these users' timelines")
    audit.add_argument("--every", type=float, metavar="SECONDS", help="again and again, with metrics on ADMIN_PORT")
    audit.add_argument("--rate", type=float, default=50, help="queries a second (default: %(default)s)")
    audit.add_argument(
        "--patience", type=float, default=PATIENCE_SECONDS, help="seconds to wait for events on their way"
    )
    audit.add_argument("--apart", type=float, default=APART_SECONDS, help="seconds between two looks (%(default)s)")
    audit.add_argument("--metrics", type=Path, metavar="FILE", help="write Prometheus' text format there")


def run(asked: argparse.Namespace) -> int:
    """Audit once, or for ever; 1 if nothing could be said, with the reason."""
    if asked.every:
        keep_auditing(read(AuditorSettings), asked)
    settings = read(JobSettings)
    logs.write_json(settings.log_level)
    try:
        parts = _parts(settings, asked)
        summary = parts.users(asked.user) if asked.user else parts.some(asked.sample)
    except (NeverStillError, StoreAwayError) as error:
        sys.stderr.write(f"{error}; run it again when that is mended, it is safe to repeat\n")
        return 1
    if asked.metrics:
        audit_metrics.set_to(summary)
        write_to_textfile(str(asked.metrics), audit_metrics.OF_THE_LAST_RUN)
    print(json.dumps(summary.told()), flush=True)  # noqa: T201
    return 0


def keep_auditing(settings: AuditorSettings, asked: argparse.Namespace) -> NoReturn:
    """Audit every so many seconds until SIGTERM."""
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))  # a container's first process ends only if it says so
    logs.write_json(settings.log_level)
    announce_build(SERVICE, settings.build_commit, own(SERVICE).labels())
    METRICS.register(audit_metrics.OF_THE_LAST_RUN)
    parts = _parts(settings, asked)
    readiness = Readiness(*parts.checks)
    admin.start(settings.host, settings.admin_port, readiness.waiting_for)
    for store, check in parts.checks.items():
        readiness.wait(store, check, ContractError)
    readiness.keep_looking(parts.checks)
    while True:
        try:
            summary = parts.some(asked.sample)
        except (NeverStillError, StoreAwayError) as error:
            _log.error("not audited; it is tried again soon", extra={"reason": str(error)})
            time.sleep(min(SOON_SECONDS, asked.every))
        else:
            audit_metrics.set_to(summary)
            _log.info("audited", extra=summary.told())
            time.sleep(asked.every)


def _parts(settings: JobSettings, asked: argparse.Namespace) -> AuditParts:
    return AuditParts(settings, asked.rate, asked.patience, asked.apart)
