"""The commands beside the worker: recounting accounts, because it is time, asked for, or owed to a dead letter."""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from prometheus_client import CollectorRegistry, Gauge, write_to_textfile

from count_aggregator.bar import Bar
from count_aggregator.dead_letters import unsettled
from count_aggregator.leases import Bridge, streams_client
from count_aggregator.ledger import Ledger
from count_aggregator.reconcile import NeverStillError, Reconciliation, Summary
from count_aggregator.settings import JobSettings
from count_aggregator.store import Accounts, Throttle, patient_client
from count_aggregator.stream import PARTITION_IDS, TOPIC, Stream

TOP = 10_000
TOLERANCE = 0.001  # of the top accounts: the hourly look is for what anybody would notice


class Job:
    """Real parts for one run."""

    def __init__(self, settings: JobSettings, asked: argparse.Namespace) -> None:
        dynamodb = patient_client()
        throttle = Throttle(asked.rate)
        self._bar = Bar(sys.stderr)
        self._metrics: Path | None = asked.metrics

        def before_page() -> None:
            throttle.wait()
            self._bar.page()

        self._accounts = Accounts(dynamodb, settings.table_prefix, before_page)
        self._ledger = Ledger(dynamodb, settings.table_prefix, kept_s=0)
        self._reconciliation = Reconciliation(
            self._accounts,
            Bridge(dynamodb, streams_client(), settings.table_prefix),
            Stream(settings.kafka, TOPIC),
            asked.patience,
            self._bar.tell,
        )
        self._kafka = settings.kafka

    def users(self, users: Sequence[str]) -> int:
        """Check these accounts exactly."""
        return self._end(self._reconciliation.run(dict.fromkeys(users)))

    def top(self, count: int) -> int:
        """Check the accounts with the most followers."""
        self._bar.tell(f"finding the top {count} accounts", 0, 0)
        return self._end(self._reconciliation.run(self._accounts.most_followed(count), TOLERANCE))

    def everybody(self) -> int:
        """Check all accounts exactly, and with that close the gaps that were open before."""
        gaps = self._ledger.open_gaps(PARTITION_IDS)
        self._bar.tell("counting everybody's rows", 0, 0)
        checked, suspects = self._accounts.suspects()
        summary = self._reconciliation.run(suspects)
        summary.checked = checked
        if not summary.busy:
            for partition_id, known in gaps.items():
                self._ledger.close_gaps(partition_id, known)
        return self._end(summary)

    def hourly(self) -> int:
        """Check the top accounts, or everybody if events vanished since that was last done."""
        gaps = self._ledger.open_gaps(PARTITION_IDS)
        return self.everybody() if gaps else self.top(TOP)

    def dead_letters(self) -> int:
        """Check the users whom the dead letters name, or everybody if one names nobody."""
        with unsettled(self._kafka, TOPIC) as letters:
            named = [user for letter in letters.read() for user in letter]
            code = self.everybody() if None in named else self.users([user for user in named if user])
            if code == 0:
                letters.settle()
        return code

    def _end(self, summary: Summary) -> int:
        self._bar.clear()
        counts = {name: len(found) if isinstance(found, list) else found for name, found in asdict(summary).items()}
        print(json.dumps({**counts, "users": summary.drifted[:100], "busy_users": summary.busy[:100]}), flush=True)  # noqa: T201
        if self._metrics:
            registry = CollectorRegistry()
            for name, count in counts.items():
                Gauge(f"count_aggregator_reconcile_{name}", f"Accounts {name}; README.", registry=registry).set(count)
            write_to_textfile(str(self._metrics), registry)
        return int(bool(summary.busy))


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Name the jobs and what may be asked of them."""
    reconcile = commands.add_parser("reconcile", help="counts against rows: the top 10,000; everybody after a gap")
    which = reconcile.add_mutually_exclusive_group()
    which.add_argument("--all", action="store_true", help="every account, exactly")
    which.add_argument("--user", nargs="+", metavar="ID", help="these accounts, exactly")
    which.add_argument("--top", type=int, metavar="N", help="the accounts with the most followers; drift over 0.1 %%")
    letters = commands.add_parser("dead-letters", help=f"recount the users whom the letters in {TOPIC.dlq} name")
    for command in (reconcile, letters):
        command.add_argument("--rate", type=float, default=50, help="pages read a second (default: %(default)s)")
        command.add_argument("--patience", type=float, default=600, help="seconds to wait for events on their way")
        command.add_argument("--metrics", type=Path, metavar="FILE", help="write Prometheus' text format there")


def run(asked: argparse.Namespace) -> int:
    """Do what was asked; 1 if not everything could be settled, with the reason."""
    job = Job(JobSettings.from_environment(), asked)
    try:
        if asked.command == "dead-letters":
            return job.dead_letters()
        if asked.user:
            return job.users(asked.user)
        if asked.top:
            return job.top(asked.top)
        return job.everybody() if asked.all else job.hourly()
    except NeverStillError as error:
        sys.stderr.write(f"\n{error}\n")
        return 1
