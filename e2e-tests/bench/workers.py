"""An edge's process of one's own: served by gunicorn, asked over connections that stay open, its processor time."""

import http.client
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from http import HTTPStatus
from pathlib import Path

from murmuration_testkit.ports import free_ports
from murmuration_testkit.tokens import DAY_S, of_stack
from murmuration_testkit.waiting import eventually

_HERE = Path(__file__).parent
_TICKS = os.sysconf("SC_CLK_TCK")


class Connection:
    """One connection to a service."""

    def __init__(self, port: int) -> None:
        self._http = http.client.HTTPConnection("127.0.0.1", port, timeout=30)

    def status(self, method: str, path: str, person: str, body: str | None = None) -> int:
        """Send a request as somebody, read the answer to its end, and return its status; 0 if nobody answers."""
        try:
            self._http.request(method, path, body, headers(person))
            with self._http.getresponse() as answer:
                answer.read()
                return answer.status
        except OSError:
            return 0


@contextmanager
def served(app: str, path: str, **environment: str) -> Iterator[tuple[int, int]]:
    """Serve an app, which answers on this path when it is ready; give its port and the pid of gunicorn's worker."""
    port, admin_port = free_ports(2)
    command = [sys.executable, "-m", "gunicorn", "-c", "python:murmuration_edge.gunicorn", "--chdir", str(_HERE), app]
    ports = {"PORT": str(port), "ADMIN_PORT": str(admin_port), "HOST": "127.0.0.1"}
    with subprocess.Popen(
        command,
        env={**os.environ, **ports, **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            eventually(lambda: Connection(port).status("GET", path, "somebody"), HTTPStatus.OK, within=60)
            yield port, int(Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text())
        finally:
            process.terminate()


def processor_seconds(pid: int) -> float:
    """Return what a process has used of the processor, in user and system mode."""
    after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(after_name[11]) + int(after_name[12])) / _TICKS


def rate(at_once: int, seconds: float, make: Callable[[], Callable[[], object]]) -> float:
    """Return how many calls a second some threads manage, each with a caller of its own making."""
    until = time.perf_counter() + seconds

    def work(_: int) -> int:
        call, done = make(), 0
        while time.perf_counter() < until:
            call()
            done += 1
        return done

    with ThreadPoolExecutor(at_once) as pool:
        return sum(pool.map(work, range(at_once))) / seconds


@cache
def headers(person: str) -> Mapping[str, str]:
    """Return what somebody's requests say, with a token that is signed once."""
    return of_stack().bearer(person, lifetime_s=DAY_S) | {"Content-Type": "application/json"}
