"""gunicorn's settings for every edge: gunicorn -c python:murmuration_edge.gunicorn 'PACKAGE.app:create_app()'.

One process, many threads: scale by replicas, so that /metrics of a process is the whole truth of its pod.
"""

from pathlib import Path
from typing import Any

from murmuration_edge.app import AT_START
from murmuration_edge.settings import EdgeSettings
from murmuration_runtime import logs
from murmuration_runtime.settings import read

_settings = read(EdgeSettings)
bind = f"{_settings.host}:{_settings.port}"
workers = 1
threads = 16
worker_class = "murmuration_edge.gunicorn_worker.Worker"
preload_app = True  # a setting that is missing ends the process; a worker that finds it missing is started for ever
limit_request_line = 8190  # what a gateway lets through is ours to answer
worker_tmp_dir = "/dev/shm" if Path("/dev/shm").is_dir() else None  # noqa: S108 - a heartbeat in memory, also on a read-only root
control_socket_disable = True  # its path is one for all services of a machine
graceful_timeout = 20  # SIGTERM: stop accepting, finish what is in flight
logconfig_dict = logs.config(_settings.log_level)


def post_worker_init(worker: Any) -> None:
    """Start the admin port and the service's threads, which a fork would not have taken along."""
    logs.catch_the_rest()
    for start in worker.wsgi.extensions[AT_START]:
        start()
