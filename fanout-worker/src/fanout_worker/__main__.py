"""python -m fanout_worker: the worker; with a command, what an operator asks for."""

import argparse
import logging
import sys
from typing import NoReturn

import faust
from pythonjsonlogger.json import JsonFormatter

from fanout_worker import jobs
from fanout_worker.app import create_app
from fanout_worker.health import serving
from fanout_worker.progress import Progress
from fanout_worker.settings import JobSettings, Settings


def main() -> int:
    """Fan out, or do what the command line names."""
    parser = argparse.ArgumentParser(prog="python -m fanout_worker", description="Fan out until SIGTERM or SIGINT.")
    jobs.add_to(parser.add_subparsers(dest="command", metavar="COMMAND"))
    asked = parser.parse_args()
    if asked.command is None:
        fan_out()
    log_as_json(JobSettings.from_environment().log_level)
    return jobs.run(asked)


def fan_out() -> NoReturn:
    """Fan out until SIGTERM or SIGINT."""
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
