"""Two fan-out workers in the place of the stack's: to break, and with a low threshold for celebrities."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from murmuration_testkit.ports import free_port
from murmuration_testkit.processes import control

THRESHOLD = 10
AHEAD_S = 8
ENVIRONMENT = {**os.environ, "CELEBRITY_THRESHOLD": str(THRESHOLD), "CELEBRITY_AHEAD": str(AHEAD_S)}
COMMAND = [sys.executable, "-m", "fanout_worker"]


class Fanout:
    """A worker that is started again whenever it ends."""

    def __init__(self, port: int, log: Path) -> None:
        self.starts = 0
        self._environment = {**ENVIRONMENT, "PORT": str(port)}
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None
        self._over = threading.Event()
        self._keeper = threading.Thread(target=self._keep, daemon=True)
        self._keeper.start()

    def signal(self, number: signal.Signals) -> None:
        """Send it a signal, if it is there."""
        if self._process and self._process.poll() is None:
            self._process.send_signal(number)

    def end(self) -> None:
        """Stop it for good."""
        self._over.set()
        self.signal(signal.SIGTERM)
        self._keeper.join()
        if self._process:
            self._process.wait(40)

    def _keep(self) -> None:
        with self._log.open("ab") as log:
            while not self._over.is_set():
                if self._process is None or self._process.poll() is not None:
                    self._process = subprocess.Popen(COMMAND, env=self._environment, stdout=log, stderr=log)  # noqa: S603
                    self.starts += 1
                self._over.wait(0.2)


@contextmanager
def two() -> Iterator[tuple[Fanout, Fanout]]:
    """Run two for as long as the context lasts; the first is whom the gateway asks for readiness."""
    logs = Path(os.environ["STACK_DIR"]) / "logs"
    control("stop", "fanout-worker")
    workers = (
        Fanout(int(os.environ["FANOUT_WORKER_ADMIN_PORT"]), logs / "fanout-worker-drill-1.log"),
        Fanout(free_port(), logs / "fanout-worker-drill-2.log"),
    )
    try:
        yield workers
    finally:
        for worker in workers:
            worker.end()
        control("start", "fanout-worker")


def demote(user_id: str) -> subprocess.CompletedProcess[str]:
    """Give the operator's command."""
    command = [*COMMAND, "demote", user_id]
    return subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=False, timeout=300)  # noqa: S603
