"""A process beside the stack's: started again whenever it ends, as a supervisor does."""

import os
import shlex
import signal
import subprocess
import sys
import threading
from pathlib import Path

from murmuration_testkit.released import Checkout
from murmuration_testkit.waiting import eventually

ENDED_WITHIN_S = 40.0


class Worker:
    """One worker, `python -m` a module and its words, on a port of its own; of today's code or another checkout's."""

    def __init__(
        self, module: str, port: int, log: str, checkout: Checkout | None = None, /, **environment: str
    ) -> None:
        self.starts = 0
        self.port = port
        self._command = [str(checkout.python) if checkout else sys.executable, "-m", *shlex.split(module)]
        self._directory = checkout.directory if checkout else None
        self._environment = {**os.environ, "PORT": str(port), "ADMIN_PORT": str(port), **environment}
        self._log = Path(os.environ["STACK_DIR"]) / f"logs/{log}.log"
        self._process: subprocess.Popen[bytes] | None = None
        self._wanted = False
        self._turn = threading.Lock()
        self._over = threading.Event()
        self._keeper = threading.Thread(target=self._keep, daemon=True)
        self._keeper.start()

    def start(self) -> None:
        """Have it run from now on."""
        self._wanted = True

    def stop(self) -> None:
        """Have it end, and stay away until it is started again."""
        with self._turn:
            self._wanted = False
        self.signal(signal.SIGTERM)
        eventually(lambda: not self._runs(), within=ENDED_WITHIN_S)

    def end(self) -> None:
        """Stop it for good."""
        self.stop()
        self._over.set()
        self._keeper.join()

    def signal(self, number: signal.Signals) -> None:
        """Send it a signal, if it is there."""
        if self._process and self._runs():
            self._process.send_signal(number)

    def _runs(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def _keep(self) -> None:
        with self._log.open("ab") as log:
            while not self._over.wait(0.2):
                with self._turn:
                    if self._wanted and not self._runs():
                        self._process = subprocess.Popen(
                            self._command, cwd=self._directory, env=self._environment, stdout=log, stderr=log
                        )
                        self.starts += 1
