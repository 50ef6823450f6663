"""python -m count_aggregator: the worker; with a command, a job."""

import argparse
import sys

from count_aggregator import jobs
from count_aggregator.app import count


def main() -> int:
    """Count, or do the job that the command line names."""
    parser = argparse.ArgumentParser(prog="python -m count_aggregator", description="Count until SIGTERM or SIGINT.")
    jobs.add_to(parser.add_subparsers(dest="command", metavar="JOB"))
    asked = parser.parse_args()
    if asked.command is None:
        count()
    return jobs.run(asked)


if __name__ == "__main__":
    sys.exit(main())
