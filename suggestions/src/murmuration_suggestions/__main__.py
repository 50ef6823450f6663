"""python -m murmuration_suggestions: computes whom to suggest to everybody, and has it read from then on."""

import argparse
import sys

from murmuration_runtime.settings import read
from murmuration_suggestions.check import check
from murmuration_suggestions.launch import NoSparkError, become_driver, is_driver
from murmuration_suggestions.settings import Settings


def main() -> int:
    """Do what the command line asks, as a driver of Spark."""
    parser = argparse.ArgumentParser(prog="python -m murmuration_suggestions", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    run = commands.add_parser("run", help="compute everybody's suggestions, write them to Redis and switch to them")
    run.add_argument("--export", metavar="URI", help="an export that is there already; else the tables are scanned")
    run.add_argument("--force", action="store_true", help="switch to it even if it looks wrong")
    load = commands.add_parser("load", help="write the last run that was accepted to Redis again, or another")
    load.add_argument("version", nargs="?", metavar="VERSION")
    load.add_argument("--force", action="store_true", help="even if a later run counts, or if it was refused")
    look = commands.add_parser("check", help="say which run counts, and what was refused since")
    look.add_argument("--late", type=int, metavar="HOURS", help="fail if it began longer ago, or if there is none")
    asked = parser.parse_args()
    settings = read(Settings)
    if asked.command == "check":
        return check(settings, asked.late)
    if is_driver():
        from murmuration_suggestions import commands as driver  # noqa: PLC0415 - it imports Spark

        return driver.run(settings, asked)
    try:
        become_driver(settings.spark_master, settings.spark_driver_memory, settings.spark_conf, sys.argv[1:])
    except NoSparkError as error:
        sys.stderr.write(f"{error}\n")
        return 1


if __name__ == "__main__":
    sys.exit(main())
