"""python -m count_aggregator: the worker; with a command, a job."""

import argparse
import sys

from contracts.image import tell
from count_aggregator import jobs
from count_aggregator.app import count
from count_aggregator.topic import SERVICE


def main() -> int:
    """Count, or do the job that the command line names."""
    parser = argparse.ArgumentParser(prog="python -m count_aggregator", description="Count until SIGTERM or SIGINT.")
    commands = parser.add_subparsers(dest="command", metavar="JOB")
    commands.add_parser("contracts", help="print which topics and tables this version reads and writes")
    jobs.add_to(commands)
    asked = parser.parse_args()
    if asked.command is None:
        count()
    if asked.command == "contracts":
        return tell(SERVICE)
    return jobs.run(asked)


if __name__ == "__main__":
    sys.exit(main())
