"""The commands beside the worker: recounting accounts, because it is time, asked for, or owed to a dead letter."""

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from prometheus_client import write_to_textfile

from count_aggregator import reconcile_metrics
from count_aggregator.reconcile import Summary
from count_aggregator.reconciler import keep_reconciling
from count_aggregator.recount import RealParts, Recount
from count_aggregator.settings import JobSettings, ReconcilerSettings
from count_aggregator.topic import SERVICE, TOPIC
from murmuration_runtime import logs
from murmuration_runtime.errors import StoreAwayError
from murmuration_runtime.settings import read
from murmuration_worker import letter_commands
from murmuration_worker.letters import Letter
from murmuration_worker.zero_lag import APART_SECONDS, PATIENCE_SECONDS, NeverStillError


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
    handle = letter_commands.add_to(commands, f"recount the users whom the letters in {TOPIC.dlq} name")
    for command in (reconcile, handle):
        command.add_argument("--rate", type=float, default=50, help="pages read a second (default: %(default)s)")
        command.add_argument(
            "--patience", type=float, default=PATIENCE_SECONDS, help="seconds to wait for events on their way"
        )
        command.add_argument(
            "--apart", type=float, default=APART_SECONDS, help="seconds from a look to the next (default: %(default)s)"
        )
        command.add_argument("--metrics", type=Path, metavar="FILE", help="write Prometheus' text format there")


def run(asked: argparse.Namespace) -> int:
    """Do what was asked; 1 if not everything could be settled, with the reason and what to do."""
    if asked.command == "reconcile" and asked.every:
        process = read(ReconcilerSettings)
        keep_reconciling(process, asked.every, RealParts(process, asked.rate, asked.patience, asked.apart))
    settings = read(JobSettings)
    logs.write_json(settings.log_level)
    try:
        if asked.command == "dead-letters":
            handle = partial(_handle_letters, settings, asked)
            return letter_commands.run(asked, settings, SERVICE, [TOPIC], handle)
        return exit_code(asked, _recounted(settings, asked, partial(_asked_of, asked)))
    except (NeverStillError, StoreAwayError) as error:
        sys.stderr.write(f"{error}; run it again when that is mended, it is safe to repeat\n")
        return 1


def exit_code(asked: argparse.Namespace, summary: Summary) -> int:
    """Return 1 if an account that was named was busy; of the most followed some always are, and one in doubt counts."""
    return int(bool(summary.busy if asked.user or asked.all else summary.busy_drifted))


def _handle_letters(settings: JobSettings, asked: argparse.Namespace, letters: Sequence[Letter]) -> Sequence[Letter]:
    summary = _recounted(settings, asked, lambda recount: recount.whom_letters_name(letters))
    return [] if summary.busy else letters


def _recounted(settings: JobSettings, asked: argparse.Namespace, recount_them: Callable[[Recount], Summary]) -> Summary:
    """Recount, and say what came of it."""
    parts = RealParts(settings, asked.rate, asked.patience, asked.apart)
    try:
        summary = recount_them(parts.recount)
    finally:
        parts.close()
    if asked.metrics:
        reconcile_metrics.set_to(summary)
        write_to_textfile(str(asked.metrics), reconcile_metrics.OF_THE_LAST_RUN)
    print(json.dumps(summary.told()), flush=True)  # noqa: T201
    return summary


def _asked_of(asked: argparse.Namespace, recount: Recount) -> Summary:
    if asked.user:
        return recount.users(asked.user)
    if asked.top:
        return recount.top(asked.top)
    return recount.everybody() if asked.all else recount.hourly()
