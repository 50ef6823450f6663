"""python -m fanout_worker."""

import logging

import faust
from pythonjsonlogger.json import JsonFormatter

from fanout_worker.app import create_app
from fanout_worker.health import serving
from fanout_worker.progress import Progress
from fanout_worker.settings import Settings


def main() -> None:
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
    main()
