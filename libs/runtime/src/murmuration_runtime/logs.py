"""Logs: one JSON object a line on stderr, with the same fields in every process.

Every line has time, level, logger and message; a line about a request has its request_id, and of a traced one its
trace_id; `extra` adds the rest.
"""

import logging
import logging.config
import sys
import threading
from collections.abc import Iterable
from contextvars import ContextVar
from types import TracebackType
from typing import Any

from pythonjsonlogger.json import JsonFormatter

request_id: ContextVar[str | None] = ContextVar("request_id", default=None)
"""The id of the request that this thread is answering."""
trace_id: ContextVar[str | None] = ContextVar("trace_id", default=None)
"""The trace of that request, if it is part of one."""

QUIET = ("aiokafka", "botocore", "faust", "mode", "urllib3", "werkzeug")  # these speak up only when something is wrong
_log = logging.getLogger(__name__)


class Formatter(JsonFormatter):
    """A log record as one JSON object."""

    def __init__(self) -> None:
        super().__init__(
            "{levelname}{name}{message}",
            style="{",
            timestamp="time",
            rename_fields={"levelname": "level", "name": "logger"},
        )

    def add_fields(self, log_data: dict[str, Any], record: logging.LogRecord, message_dict: dict[str, Any]) -> None:
        """Add the request's ids to what the record has."""
        super().add_fields(log_data, record, message_dict)
        for name, about in (("request_id", request_id), ("trace_id", trace_id)):
            if (answering := about.get()) and name not in log_data:
                log_data[name] = answering


def config(level: str, quiet: Iterable[str] = QUIET) -> dict[str, Any]:
    """Return the logging configuration, as logging.config.dictConfig and gunicorn take it."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"json": {"()": "murmuration_runtime.logs.Formatter"}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "json"}},
        "root": {"level": level, "handlers": ["stderr"]},
        "loggers": {
            "gunicorn.error": {"level": level, "handlers": [], "propagate": True},
            **{name: {"level": "WARNING"} for name in quiet},
        },
    }


def write_json(level: str) -> None:
    """Write every log line, every warning and every uncaught exception of this process as JSON."""
    logging.config.dictConfig(config(level))
    catch_the_rest()


def catch_the_rest() -> None:
    """Log warnings and uncaught exceptions too, which Python writes to stderr as plain text."""
    logging.captureWarnings(capture=True)
    sys.excepthook = _uncaught
    threading.excepthook = lambda failed: _uncaught(failed.exc_type, failed.exc_value, failed.exc_traceback)


def _uncaught(kind: type[BaseException], error: BaseException | None, where: TracebackType | None) -> None:
    if error is None or issubclass(kind, KeyboardInterrupt | SystemExit):
        return
    _log.critical("uncaught exception", exc_info=(kind, error, where))
