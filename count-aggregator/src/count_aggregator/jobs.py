"""The commands beside the worker: recounting accounts, because it is time, asked for, or owed to a dead letter."""

import argparse
import json
import logging
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import NoReturn

from prometheus_client import write_to_textfile
from tqdm import tqdm

from contracts import ContractError
from count_aggregator import reconcile_metrics
from count_aggregator.bridge_progress import BridgeProgress, streams_client
from count_aggregator.dynamo_accounts import Accounts
from count_aggregator.ledger import Ledger
from count_aggregator.reconcile import NeverStillError, Reconciliation, Summary
from count_aggregator.settings import JobSettings, ReconcilerSettings
from count_aggregator.topic import PARTITION_IDS, SERVICE, TOPIC
from murmuration_runtime import admin, dynamo, logs
from murmuration_runtime.errors import StoreAwayError
from murmuration_runtime.kafka import KafkaTopics
from murmuration_runtime.metrics import METRICS, announce_build
from murmuration_runtime.readiness import Check, Readiness
from murmuration_runtime.retries import Pace
from murmuration_runtime.settings import read
from murmuration_worker.dead_letters import unhandled_letters

TOP = 10_000
TOLERANCE = 0.001  # of the top accounts: the hourly look is for what anybody would notice
SOON_SECONDS = 60.0  # a run that failed is not worth an hour's wait
_log = logging.getLogger(__name__)


class Job:
    """Real parts for one run or many."""

    def __init__(self, settings: JobSettings, rate: float, patience_seconds: float) -> None:
        """Take how many pages may be read a second, and how long to wait for events on their way."""
        dynamodb = dynamo.client(attempts=10, connect_seconds=2, read_seconds=10)
        pace = Pace(rate)
        self._bar = tqdm(unit=" pages", disable=None, leave=False)  # None: nothing where nobody watches

        def before_page() -> None:
            pace.wait()
            self._bar.update()

        self._kafka = settings.kafka_bootstrap_servers
        self._topics = KafkaTopics(self._kafka, [TOPIC])
        self._accounts = Accounts(dynamodb, settings.table_prefix, before_page)
        self._ledger = Ledger(dynamodb, settings.table_prefix, kept_seconds=0)
        self._reconciliation = Reconciliation(
            self._accounts,
            published_until=BridgeProgress(dynamodb, streams_client(), settings.table_prefix).published_until,
            ends=lambda: self._topics.ends(self._topics.partitions),
            counted=lambda: self._topics.committed(SERVICE),
            patience_seconds=patience_seconds,
            tell=self._tell,
        )
        self.checks: dict[str, Check] = {"dynamodb": self._ledger.check, "kafka": self._topics.ids}

    def users(self, users: Sequence[str]) -> Summary:
        """Check these accounts exactly."""
        return self._reconciliation.run(dict.fromkeys(users))

    def top(self, count: int) -> Summary:
        """Check the accounts with the most followers."""
        self._tell(f"finding the top {count} accounts")
        return self._reconciliation.run(self._accounts.most_followed(count), TOLERANCE)

    def everybody(self) -> Summary:
        """Check all accounts exactly, and with that close the gaps that were open before."""
        gaps = self._ledger.open_gaps(PARTITION_IDS)
        self._tell("counting everybody's rows")
        checked, suspects = self._accounts.suspects()
        summary = self._reconciliation.run(suspects)
        summary.checked = checked
        if not summary.busy:
            for partition_id, known in gaps.items():
                self._ledger.close_gaps(partition_id, known)
        return summary

    def hourly(self) -> Summary:
        """Check the top accounts, or everybody if events vanished since that was last done."""
        gaps = self._ledger.open_gaps(PARTITION_IDS)
        return self.everybody() if gaps else self.top(TOP)

    def dead_letters(self) -> Summary:
        """Check the users whom the dead letters name, or everybody if a letter does not name both of its users."""
        with unhandled_letters(self._kafka, TOPIC, SERVICE) as letters:
            named = [(each.ids.get("followee_id"), each.ids.get("follower_id")) for each in letters.read()]
            users = [user for pair in named for user in pair]
            known = [user for user in users if user is not None]
            summary = self.users(known) if len(known) == len(users) else self.everybody()
            if not summary.busy:
                letters.mark_handled()
        return summary

    def close(self) -> None:
        """Leave the line of the bar to whoever writes next."""
        self._bar.close()

    def _tell(self, what: str) -> None:
        self._bar.set_description_str(what, refresh=False)


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Name the jobs and what may be asked of them."""
    reconcile = commands.add_parser("reconcile", help="counts against rows: the top 10,000; everybody after a gap")
    which = reconcile.add_mutually_exclusive_group()
    which.add_argument("--all", action="store_true", help="every account, exactly")
    which.add_argument("--user", nargs="+", metavar="ID", help="these accounts, exactly")
    which.add_argument("--top", type=int, metavar="N", help="the accounts with the most followers; drift over 0.1 %%")
    which.add_argument(
        "--every", type=float, metavar="SECONDS", help="again and again, with metrics on ADMIN_PORT, until SIGTERM"
    )
    letters = commands.add_parser("dead-letters", help=f"recount the users whom the letters in {TOPIC.dlq} name")
    for command in (reconcile, letters):
        command.add_argument("--rate", type=float, default=50, help="pages read a second (default: %(default)s)")
        command.add_argument("--patience", type=float, default=600, help="seconds to wait for events on their way")
        command.add_argument("--metrics", type=Path, metavar="FILE", help="write Prometheus' text format there")


def run(asked: argparse.Namespace) -> int:
    """Do what was asked; 1 if not everything could be settled, with the reason and what to do."""
    if asked.command == "reconcile" and asked.every:
        keep_reconciling(read(ReconcilerSettings), asked)
    settings = read(JobSettings)
    logs.write_json(settings.log_level)
    job = Job(settings, asked.rate, asked.patience)
    try:
        summary = _asked_of(job, asked)()
    except (NeverStillError, StoreAwayError) as error:
        job.close()
        sys.stderr.write(f"{error}; run it again when that is mended, it is safe to repeat\n")
        return 1
    job.close()
    if asked.metrics:
        reconcile_metrics.set_to(summary)
        write_to_textfile(str(asked.metrics), reconcile_metrics.OF_THE_LAST_RUN)
    print(json.dumps(_told(summary)), flush=True)  # noqa: T201
    return int(bool(summary.busy))


def keep_reconciling(settings: ReconcilerSettings, asked: argparse.Namespace) -> NoReturn:
    """Do the hourly job every so often, with health and metrics on the admin port."""
    logs.write_json(settings.log_level)
    announce_build(SERVICE, settings.build_commit)
    METRICS.register(reconcile_metrics.OF_THE_LAST_RUN)
    job = Job(settings, asked.rate, asked.patience)
    readiness = Readiness(*job.checks)
    admin.start(settings.host, settings.admin_port, readiness.waiting_for)
    for store, check in job.checks.items():
        readiness.wait(store, check, ContractError)
    readiness.keep_looking(job.checks)
    while True:
        time.sleep(asked.every if _reconciled(job) else min(SOON_SECONDS, asked.every))


def _reconciled(job: Job) -> bool:
    try:
        summary = job.hourly()
    except (NeverStillError, StoreAwayError) as error:
        _log.error("not reconciled; it is tried again soon", extra={"reason": str(error)})
        return False
    reconcile_metrics.set_to(summary)
    _log.info("reconciled", extra=_told(summary))
    return True


def _asked_of(job: Job, asked: argparse.Namespace) -> Callable[[], Summary]:
    if asked.command == "dead-letters":
        return job.dead_letters
    if asked.user:
        return lambda: job.users(asked.user)
    if asked.top:
        return lambda: job.top(asked.top)
    return job.everybody if asked.all else job.hourly


def _told(summary: Summary) -> dict[str, object]:
    counts = {name: len(found) if isinstance(found, list) else found for name, found in asdict(summary).items()}
    return {**counts, "users": summary.drifted[:100], "busy_users": summary.busy[:100]}
