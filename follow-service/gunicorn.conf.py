"""One process, many threads: scale by replicas, so that /metrics of a process is the whole truth of its pod."""

import os

bind = f"{os.environ.get('HOST', '0.0.0.0')}:{os.environ['PORT']}"  # noqa: S104 - a container listens on all of its own
workers = 1
threads = 16
worker_class = "gthread"
limit_request_line = 8190  # what a gateway lets through is ours to answer
graceful_timeout = 20  # SIGTERM: stop accepting, finish what is in flight

_level = os.environ.get("LOG_LEVEL", "INFO")
logconfig_dict = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "json": {
            "()": "pythonjsonlogger.json.JsonFormatter",
            "fmt": "%(asctime)s %(levelname)s %(name)s %(message)s",
            "rename_fields": {"asctime": "time", "levelname": "level", "name": "logger"},
        }
    },
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "json"}},
    "root": {"level": _level, "handlers": ["stderr"]},
    "loggers": {"gunicorn.error": {"level": _level, "handlers": [], "propagate": True}},
}
