"""Two fan-out workers in the place of the stack's: to break, and with a low threshold for celebrities."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from murmuration_testkit.ports import free_port
from murmuration_testkit.processes import control
from murmuration_testkit.worker import Worker

THRESHOLD = 10
AHEAD_S = 8
ENVIRONMENT = {"CELEBRITY_THRESHOLD": str(THRESHOLD), "CELEBRITY_AHEAD": str(AHEAD_S)}


@contextmanager
def two() -> Iterator[tuple[Worker, Worker]]:
    """Run two for as long as the context lasts; the first is whom the gateway asks for readiness."""
    control("stop", "fanout-worker")
    ports = (int(os.environ["FANOUT_WORKER_ADMIN_PORT"]), free_port())
    first, second = (Worker("fanout_worker", port, f"fanout-worker-{port}", **ENVIRONMENT) for port in ports)
    try:
        first.start()
        second.start()
        yield first, second
    finally:
        first.end()
        second.end()
        control("start", "fanout-worker")


def demote(user_id: str) -> subprocess.CompletedProcess[str]:
    """Give the operator's command."""
    command = [sys.executable, "-m", "fanout_worker", "demote", user_id]
    environment = {**os.environ, **ENVIRONMENT}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=300)  # noqa: S603
