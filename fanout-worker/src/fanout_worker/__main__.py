"""python -m fanout_worker: the worker; with a command, what an operator asks for."""

import argparse
import sys

from contracts.image import tell
from fanout_worker import auditor, jobs
from fanout_worker.app import fan_out
from fanout_worker.topics import SERVICE


def main() -> int:
    """Fan out, or do what the command line names."""
    parser = argparse.ArgumentParser(prog="python -m fanout_worker", description="Fan out until SIGTERM or SIGINT.")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    commands.add_parser("contracts", help="print which topics and tables this version reads and writes")
    jobs.add_to(commands)
    auditor.add_to(commands)
    asked = parser.parse_args()
    if asked.command is None:
        fan_out()
    if asked.command == "contracts":
        return tell(SERVICE)
    if asked.command == "audit":
        return auditor.run(asked)
    return jobs.run(asked)


if __name__ == "__main__":
    sys.exit(main())
