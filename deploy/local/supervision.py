"""The stack's supervisord: started, asked and stopped. generate.py says how each process is run."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
import xmlrpc.client
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from environment import KAFKAS, Stack, StackError
from supervisor.xmlrpc import SupervisorTransport

from murmuration_testkit.services import PROCESSES

STORES = ("kafka", "dynamodb", "redis", "registry")
MORE_REDISES = ("limits-redis", "suggestions-redis", "graph-redis")
STAGES = ((*KAFKAS, "dynamodb", "redis", *MORE_REDISES, "gateway"), ("registry",), tuple(PROCESSES))
EVERYTHING = (*STORES, *KAFKAS[1:], *MORE_REDISES, "gateway", *PROCESSES)
START_DEADLINE_S = 15
STOP_DEADLINE_S = 60
LONGEST_SOCKET_PATH = 95  # the kernel allows 107 bytes, and supervisord appends its pid for a moment


@dataclass(frozen=True)
class Process:
    """What supervisord knows about one process; pid 0 when it does not run."""

    name: str
    pid: int
    state: str


class Supervisor:
    """One stack's supervisord, running or not."""

    def __init__(self, stack: Stack) -> None:
        self._stack = stack
        self._socket = stack.directory / "supervisor.sock"

    def running(self) -> bool:
        """Tell whether it is there."""
        with socket.socket(socket.AF_UNIX) as probe:
            return not probe.connect_ex(str(self._socket))

    def processes(self) -> dict[str, Process]:
        """Give every process by name; none when supervisord does not run."""
        if not self.running():
            return {}
        infos = self._call().getAllProcessInfo()
        return {info["name"]: Process(info["name"], info["pid"], info["statename"].lower()) for info in infos}

    def boot(self, *, tied: bool) -> None:
        """Start supervisord with no process running yet; a tied one shuts down when this process ends."""
        if len(os.fsencode(self._socket)) > LONGEST_SOCKET_PATH:
            raise StackError(f"{self._socket} is too long a path for a socket: move the clone to a shorter one")
        tie = ["setpriv", "--pdeathsig", "TERM"] if tied else []
        environment = self._stack.environment()
        supervisord = [str(Path(sys.executable).with_name("supervisord")), "-c", environment["STACK_SUPERVISOR_CONF"]]
        with (self._stack.directory / "logs/supervisord.out").open("wb") as out:
            child = subprocess.Popen(
                [*tie, *supervisord],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                start_new_session=True,
            )
        deadline = time.monotonic() + START_DEADLINE_S
        while not self.running():
            if child.poll() is not None or time.monotonic() > deadline:
                raise StackError(f"supervisord did not start:\n{Path(out.name).read_text()}")
            time.sleep(0.05)

    def learn(self) -> None:
        """Take over what has changed in the configuration: processes that are new, other, or gone.

        A process that ran and is other now runs again afterwards.
        """
        ((added, changed, removed),) = self._call().reloadConfig()
        ran = self._up(changed)
        self._stop([*removed, *changed])
        for name in (*removed, *changed):
            self._call().removeProcessGroup(name)
        for name in (*added, *changed):
            self._call().addProcessGroup(name)
        for name in ran:
            self.start(name)

    def stop(self, process: str) -> None:
        """Stop one process, and wait until it has ended."""
        self._stop([process])

    def start(self, process: str) -> None:
        """Start one process, without waiting for it."""
        with contextlib.suppress(xmlrpc.client.Fault):  # supervisord was faster
            self._call().startProcess(process, False)

    def shut_down(self) -> bool:
        """Stop services before the stores that they write to, then supervisord; False when it did not run."""
        if not self.running():
            return False
        pid = int((self._stack.directory / "supervisord.pid").read_text())
        for stage in reversed(STAGES):
            self._stop(stage)
        with contextlib.suppress(OSError, xmlrpc.client.Error):  # it may be on its way out already
            self._call().shutdown()
        deadline = time.monotonic() + STOP_DEADLINE_S
        while _alive(pid):
            if time.monotonic() > deadline:
                os.kill(pid, signal.SIGKILL)  # its processes die with it
            time.sleep(0.05)
        return True

    def _stop(self, names: Collection[str]) -> None:
        """Stop these at once; supervisord kills those that take too long."""
        for name in self._up(names):
            with contextlib.suppress(OSError, xmlrpc.client.Error):  # it has just ended, or supervisord has
                self._call().stopProcess(name, False)
        while self._up(names):
            time.sleep(0.05)

    def _up(self, names: Collection[str]) -> list[str]:
        return [process.name for process in self.processes().values() if process.pid and process.name in names]

    def _call(self) -> Any:
        transport = SupervisorTransport(None, None, f"unix://{self._socket}")
        return xmlrpc.client.ServerProxy("http://127.0.0.1", transport=transport).supervisor


def _alive(pid: int) -> bool:
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)  # a child of ours that ended stays in /proc until it is asked for
    return Path(f"/proc/{pid}").exists()
