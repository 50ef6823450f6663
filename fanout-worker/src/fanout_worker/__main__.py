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
    handler = logging.StreamHandler()
    handler.setFormatter(JsonFormatter("{asctime}{levelname}{name}{message}", style="{"))
    logging.basicConfig(level=settings.log_level, handlers=[handler])
    progress = Progress()
    with serving(settings.host, settings.port, progress.waiting_for):
        app = create_app(settings, progress)
        faust.Worker(app, loglevel="WARN", override_logging=False, redirect_stdouts=False).execute_from_commandline()


if __name__ == "__main__":
    main()
