"""Two fan-out workers in the place of the stack's, to break and with a low threshold for celebrities; and readers."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import urllib3

from murmuration_testkit.people import Person, RefusedError
from murmuration_testkit.ports import free_port
from murmuration_testkit.processes import control
from murmuration_testkit.waiting import eventually
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


@contextmanager
def reader(log: str, command: list[str], directory: Path) -> Iterator[str]:
    """Serve timelines for as long as the context lasts; give the address."""
    port = free_port()
    environment = {**os.environ, "PORT": str(port), "ADMIN_PORT": str(free_port())}
    path = Path(os.environ["STACK_DIR"]) / f"logs/timeline-service-{log}.log"
    with (
        path.open("ab") as output,
        subprocess.Popen(command, cwd=directory, env=environment, stdout=output, stderr=output) as process,  # noqa: S603
    ):
        try:
            address = f"http://127.0.0.1:{port}"
            somebody = Person()
            eventually(lambda: _serves(somebody, address), within=60)
            yield address
        finally:
            process.terminate()


def demote(user_id: str) -> subprocess.CompletedProcess[str]:
    """Give the operator's command."""
    command = [sys.executable, "-m", "fanout_worker", "demote", user_id]
    environment = {**os.environ, **ENVIRONMENT}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=300)  # noqa: S603


def _serves(somebody: Person, address: str) -> bool:
    try:
        somebody.ask("GET", f"{address}/v1/timeline")
    except (urllib3.exceptions.HTTPError, RefusedError):
        return False
    return True
