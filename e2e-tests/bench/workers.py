"""An edge's process of one's own: served by gunicorn, asked over connections that stay open, its processor time."""

import http.client
import itertools
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

TRIES, AGAIN_S = 20, 1.0
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

    def insist(self, method: str, path: str, person: str) -> None:
        """Send a request until it is done, as a client does that is told to come again; that takes longer, too."""
        for _ in range(TRIES):
            status = self.status(method, path, person)
            if status != HTTPStatus.SERVICE_UNAVAILABLE:
                assert status in (HTTPStatus.OK, HTTPStatus.NO_CONTENT), status
                return
            time.sleep(AGAIN_S)
        raise RuntimeError(f"{method} {path} is 503 again and again: this machine is too slow to be measured")


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


def paced(a_second: float, seconds: float, at_once: int, make: Callable[[], Callable[[], object]]) -> list[float]:
    """Return how many ms each call took of so many a second, in order of length, from when it was due.

    What is late because the calls before it took so long has waited, too.
    """
    turns = itertools.count()
    began = time.perf_counter()

    def work(_: int) -> list[float]:
        call, took = make(), []
        while (due := next(turns) / a_second) < seconds:
            time.sleep(max(0.0, began + due - time.perf_counter()))
            call()
            took.append((time.perf_counter() - began - due) * 1000)
        return took

    with ThreadPoolExecutor(at_once) as pool:
        return sorted(itertools.chain.from_iterable(pool.map(work, range(at_once))))


def p99(took: list[float]) -> float:
    """Return how long all took but one in a hundred, of times in order of length."""
    return took[len(took) * 99 // 100]


@cache
def headers(person: str) -> Mapping[str, str]:
    """Return what somebody's requests say, with a token that is signed once."""
    return of_stack().bearer(person, lifetime_s=DAY_S) | {"Content-Type": "application/json"}
