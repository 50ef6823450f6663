"""python -m count_aggregator."""

import logging

import faust
from pythonjsonlogger.json import JsonFormatter

from count_aggregator.app import create_app
from count_aggregator.health import serving
from count_aggregator.progress import Progress
from count_aggregator.settings import Settings


def main() -> None:
    """Count until SIGTERM or SIGINT."""
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
