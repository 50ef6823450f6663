"""python -m count_aggregator: the worker; with a command, a job."""

import argparse
import logging
import sys
from typing import NoReturn

import faust
from pythonjsonlogger.json import JsonFormatter

from count_aggregator import jobs
from count_aggregator.app import create_app
from count_aggregator.health import serving
from count_aggregator.progress import Progress
from count_aggregator.settings import JobSettings, Settings


def main() -> int:
    """Count, or do the job that the command line names."""
    parser = argparse.ArgumentParser(prog="python -m count_aggregator", description="Count until SIGTERM or SIGINT.")
    jobs.add_to(parser.add_subparsers(dest="command", metavar="JOB"))
    asked = parser.parse_args()
    if asked.command is None:
        count()
    log_as_json(JobSettings.from_environment().log_level)
    return jobs.run(asked)


def count() -> NoReturn:
    """Count until SIGTERM or SIGINT."""
    settings = Settings.from_environment()
    log_as_json(settings.log_level)
    progress = Progress()
    with serving(settings.host, settings.port, progress.waiting_for):
        app = create_app(settings, progress)
        faust.Worker(app, quiet=True, override_logging=False, redirect_stdouts=False).execute_from_commandline()


def log_as_json(level: str) -> None:
    """Write one object a line; the libraries speak up only when something is wrong."""
    names = {"asctime": "time", "levelname": "level", "name": "logger"}
    handler = logging.StreamHandler()
    handler.setFormatter(JsonFormatter("{asctime}{levelname}{name}{message}", style="{", rename_fields=names))
    logging.basicConfig(level=level, handlers=[handler])
    for library in ("aiokafka", "botocore", "faust", "mode"):
        logging.getLogger(library).setLevel(logging.WARNING)


if __name__ == "__main__":
    sys.exit(main())
