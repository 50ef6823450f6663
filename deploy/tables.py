"""Make DynamoDB's tables what schemas/tables says, and change them under traffic. Every command is safe to repeat.

Without a command it does what `expand` does: it creates and adds what is missing, and takes nothing away.
"""

import argparse
import os
import sys
import time
from pathlib import Path

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from migrating import adopt, metrics
from migrating.dynamo_record import Pass, Record
from migrating.dynamo_tables import Tables, say
from migrating.errors import StepError
from migrating.orders import Orders
from prometheus_client import write_to_textfile

from contracts import ContractError, migrations
from contracts.table_files import load
from contracts.topic import DATA
from murmuration_runtime.retries import Pace

PATIENCE = Config(retries={"total_max_attempts": 1}, connect_timeout=2, read_timeout=10)


def main() -> int:
    """Do one step; 1 and a line on stderr if it cannot be done, with what to do."""
    asked = _arguments()
    try:
        return _obey(asked)
    except (StepError, ContractError, ClientError, BotoCoreError) as error:
        sys.stderr.write(f"tables.py: {error}\n")
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("tables.py: interrupted; run it again, it goes on where it was\n")
        return 130


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tables.py", description=__doc__)
    parser.add_argument("--wait", type=float, default=60, metavar="SECONDS", help="how long DynamoDB may be away")
    commands = parser.add_subparsers(dest="step", metavar="COMMAND")
    commands.add_parser("plan", help="say what expand and contract would do, and how far each migration has come")
    commands.add_parser("status", help="say how far each migration has come, and what comes next")
    expand = commands.add_parser("expand", help="create tables, add indexes, switch first streams on")
    expand.add_argument("--dry-run", action="store_true", help="only say what is missing; then the exit code is 1")
    start = commands.add_parser(
        "adopt", help="start on tables that had rows before their streams: recount, tell states, make cold"
    )
    start.add_argument("--patience", type=float, default=3600, metavar="SECONDS", help="for each job")
    for job, command_line in adopt.COMMANDS.items():
        start.add_argument(f"--{job}", default=command_line, metavar="COMMAND", help=f"instead of `{command_line}`")
    for step, does in (
        ("backfill", "have every row as the migration wants it; goes on where it was stopped"),
        ("switch", "have everybody who knows the new way go it"),
        ("contract", "take away what only the old way used"),
    ):
        command = commands.add_parser(step, help=does)
        command.add_argument("migration", help="the name of a file in schemas/migrations")
        command.add_argument("--yes", action="store_true", help="what has to be so before this step is so")
        command.add_argument("--rate", type=float, default=100, metavar="N", help="calls a second (default: 100)")
        command.add_argument("--metrics", type=Path, metavar="FILE", help="write Prometheus' text format there")
    return parser.parse_args()


def _obey(asked: argparse.Namespace) -> int:
    dynamodb = boto3.client("dynamodb", config=PATIENCE)
    prefix = os.environ.get("TABLE_PREFIX", "")
    files = load(DATA)
    known = migrations.load(DATA, files)
    tables = Tables(dynamodb, prefix, time.monotonic() + asked.wait)

    def measure(migration: str, so_far: Pass, estimated: int) -> None:
        metrics.measure(migration, so_far, estimated)
        if asked.metrics:
            write_to_textfile(str(asked.metrics), metrics.OF_THE_PASS)

    orders = Orders(dynamodb, prefix, files, known, tables, measure)
    match asked.step:
        case "plan" | "status" as which:
            for line in getattr(orders, which)():
                say(line)
        case "backfill":
            orders.backfill(asked.migration, Pace(asked.rate), seen_to=asked.yes)
        case "switch":
            orders.switch(asked.migration, seen_to=asked.yes)
        case "contract":
            orders.contract(asked.migration, Pace(asked.rate), seen_to=asked.yes)
        case "adopt":
            orders.expand()
            jobs = adopt.Jobs({job: getattr(asked, job) for job in adopt.COMMANDS}, asked.patience)
            adopt.adopt(Record(dynamodb, prefix), orders.streams(), jobs)
        case "expand" if asked.dry_run:
            return int(_say_what_is_missing(orders))
        case _:
            orders.expand()
    return 0


def _say_what_is_missing(orders: Orders) -> bool:
    seen = [*orders.tables()]
    for line, _ in seen:
        say(line)
    return any(lacks for _, lacks in seen)


if __name__ == "__main__":
    sys.exit(main())
