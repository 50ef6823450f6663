"""python -m fanout_worker: the worker; with a command, what an operator asks for."""

import argparse
import sys

from fanout_worker import jobs
from fanout_worker.app import fan_out


def main() -> int:
    """Fan out, or do what the command line names."""
    parser = argparse.ArgumentParser(prog="python -m fanout_worker", description="Fan out until SIGTERM or SIGINT.")
    jobs.add_to(parser.add_subparsers(dest="command", metavar="COMMAND"))
    asked = parser.parse_args()
    if asked.command is None:
        fan_out()
    return jobs.run(asked)


if __name__ == "__main__":
    sys.exit(main())
