"""python -m cdc_bridge."""

import logging
import os
import signal
import sys

from pythonjsonlogger.json import JsonFormatter

from cdc_bridge.app import App
from cdc_bridge.settings import SettingError, Settings


def main() -> None:
    """Bridge until SIGTERM or SIGINT."""
    try:
        settings = Settings.from_env(os.environ)
    except SettingError as error:
        sys.exit(f"cdc-bridge cannot start: {error}")
    handler = logging.StreamHandler()
    handler.setFormatter(JsonFormatter("{asctime}{levelname}{name}{message}", style="{"))
    logging.basicConfig(level=settings.log_level, handlers=[handler])
    logging.getLogger("botocore").setLevel(logging.WARNING)  # it tells where it found its credentials
    app = App(settings)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: app.stop())
    app.run()


if __name__ == "__main__":
    main()
