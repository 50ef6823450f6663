"""Bridges as child processes, for tests, drills and benches."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http import HTTPStatus
from pathlib import Path
from typing import Any, Self

from murmuration_testkit.dynamodb_local import DynamoDbLocal
from murmuration_testkit.ports import free_port
from murmuration_testkit.probes import get, metric
from murmuration_testkit.released import Checkout
from murmuration_testkit.waiting import eventually


class Bridge:
    """One cdc-bridge, started as the deployment starts it; of today's code, or of another checkout's."""

    def __init__(self, log: Path, checkout: Checkout | None = None, /, **environment: str) -> None:
        self._log = log
        self._python = str(checkout.python) if checkout else sys.executable
        self._directory = checkout.directory if checkout else None
        self._environment = {**os.environ, "LEASE_SECONDS": "2", **environment, "HOST": "127.0.0.1"}
        self._child: subprocess.Popen[bytes] | None = None

    def start(self) -> Self:
        """Start it, on another port each time."""
        self.port = free_port()
        self._environment["ADMIN_PORT"] = str(self.port)
        command = ["setpriv", "--pdeathsig", "KILL", self._python, "-m", "cdc_bridge"]
        with self._log.open("ab") as stderr:
            self._child = subprocess.Popen(  # noqa: S603
                command, cwd=self._directory, env=self._environment, stderr=stderr
            )
        return self

    def until_ready(self) -> Self:
        """Wait until it says that it is ready."""
        eventually(self.ready, within=60)
        return self

    @property
    def pid(self) -> int:
        """Its pid; it must be running."""
        assert self._child is not None
        assert self._child.poll() is None, f"the bridge has ended:\n{self._log.read_text()[-2000:]}"
        return self._child.pid

    def get(self, path: str) -> tuple[int, str]:
        """Return status and body; status 0 while it does not answer, which a dead process never will."""
        assert self.pid
        return get(f"http://127.0.0.1:{self.port}{path}")

    def ready(self) -> bool:
        """Tell whether it says that it is ready."""
        return self.get("/readyz")[0] == HTTPStatus.OK

    def metric(self, name: str) -> float:
        """Add up a metric over its labels; 0 while it does not answer."""
        return metric(self.port, name)

    def logged(self) -> list[dict[str, Any]]:
        """Return what it logged, in all its lives."""
        return [json.loads(line) for line in self._log.read_text().splitlines()]

    def command(self, *words: str) -> str:
        """Do what an operator does beside it; return what was said."""
        command = [self._python, "-m", "cdc_bridge", *words]
        done = subprocess.run(  # noqa: S603
            command, cwd=self._directory, env=self._environment, capture_output=True, text=True, check=False
        )
        return done.stdout + done.stderr

    def send(self, number: signal.Signals) -> None:
        """Send a signal."""
        os.kill(self.pid, number)

    def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Send a signal that ends it, if it runs; return the exit code."""
        assert self._child is not None
        if self._child.poll() is None:
            self._child.send_signal(number)
        return self._child.wait(20)


@contextmanager
def bridges(store: DynamoDbLocal, count: int, **environment: str) -> Iterator[list[Bridge]]:
    """Have bridges on it, ready, and gone afterwards."""
    logs = Path(tempfile.mkdtemp(prefix="bridges-"))
    settings = {**store.environment, **environment}
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, logs)
        started = [Bridge(logs / f"{number}.log", **settings).start() for number in range(count)]
        for bridge in started:
            stack.callback(bridge.end, signal.SIGKILL)
        for bridge in started:
            bridge.until_ready()
        yield started
