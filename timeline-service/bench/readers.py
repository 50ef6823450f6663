"""People, their follows and tweets, straight into the tables; and requests, as fast as a few connections carry them."""

import itertools
import os
import random
import socket
import statistics
import subprocess
import sys
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import cache
from http import HTTPStatus
from pathlib import Path
from typing import Any, NamedTuple, Self

import boto3
from botocore.config import Config

from contracts.ids import first_id
from murmuration_testkit.ports import free_port
from murmuration_testkit.probes import get
from murmuration_testkit.rows import put_all
from murmuration_testkit.tokens import DAY_S, Issuer
from murmuration_testkit.waiting import eventually

from .edges_settled import settled

PREFIX = os.environ.get("TABLE_PREFIX", "")
HERE = Path(__file__).parent.parent
ISSUER = Issuer(os.environ["JWT_ISSUER"], os.environ["JWT_AUDIENCE"])
MARK = f"b-{uuid.uuid4().hex[:8]}"
_TICKS = os.sysconf("SC_CLK_TCK")
_numbers = itertools.count()


def write(table: str, items: Iterable[dict[str, Any]]) -> None:
    """Put all these items."""
    put_all(boto3.client("dynamodb", config=Config(read_timeout=60)), PREFIX + table, items)


def follow(follower: str, followees: Iterable[str]) -> Iterator[dict[str, Any]]:
    """Give the edges."""
    for followee in followees:
        yield {"followee_id": {"S": followee}, "follower_id": {"S": follower}, "followed_at": {"N": "1"}}


def say(authors: list[str], each: int) -> Iterator[dict[str, Any]]:
    """Give so many tweets of each author, all in turn and anyone first, in the hour that is past."""
    now = int(time.time() * 1000)
    for turn in range(each):
        for author in random.sample(authors, len(authors)):
            at = now - 3_600_000 + turn * (3_000_000 // each)
            tweet_id = str(int(first_id(at)) + next(_numbers) % 4_000_000)
            text = f"what {author} said for the {turn}th time, of about the length that people write"
            yield {
                "tweet_id": {"S": tweet_id},
                "author_id": {"S": author},
                "live_author_id": {"S": author},
                "text": {"S": text},
                "created_at": {"N": str(at)},
            }


class Served(NamedTuple):
    """An app that answers: its port, and gunicorn's worker."""

    port: int
    pid: int

    def processor_seconds(self) -> float:
        """Return what the worker has used of the processor, in user and system mode."""
        after_name = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(after_name[11]) + int(after_name[12])) / _TICKS


@contextmanager
def served(
    app: str = "bench.served:create()", *, edges: AbstractContextManager[None] | None = None, **settings: str
) -> Iterator[Served]:
    """Serve an app on a free port, by the service's own gunicorn settings; edges are settled unless it is said how."""
    port, admin_port = free_port(), free_port()
    command = [sys.executable, "-m", "gunicorn", "-c", "python:murmuration_edge.gunicorn", "--chdir", str(HERE)]
    environment = {
        **os.environ,
        "PORT": str(port),
        "ADMIN_PORT": str(admin_port),
        "HOST": "127.0.0.1",
        "BENCH_PUBLIC_KEY": ISSUER.public_pem(),
        **settings,
    }
    starts = subprocess.Popen(  # noqa: S603
        [*command, app], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    with edges or settled(), starts as process:
        try:
            eventually(lambda: get(f"http://127.0.0.1:{admin_port}/readyz")[0], HTTPStatus.OK, within=60)
            yield Served(port, int(Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()))
        finally:
            process.terminate()


class Connection:
    """One kept open; as little as HTTP can be, so that the bench measures the service."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=60)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def get(self, path: str, user: str | None) -> tuple[int, bytes]:
        """Ask, and return the status and the body."""
        authorization = f"Authorization: Bearer {token(user)}\r\n" if user else ""
        self._socket.sendall(f"GET {path} HTTP/1.1\r\nHost: bench\r\n{authorization}\r\n".encode())
        data = self._socket.recv(65536)
        while b"\r\n\r\n" not in data:
            data += self._more()
        head, _, body = data.partition(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        while len(body) < length:
            body += self._more()
        if b"connection: close" in head.lower():
            self._socket.close()
            self._socket = socket.create_connection(("127.0.0.1", self._port), timeout=60)
        return int(head.split(b" ")[1]), body

    def _more(self) -> bytes:
        if data := self._socket.recv(65536):
            return data
        raise ConnectionError("the service hung up")


@cache
def token(user: str) -> str:
    """Sign a token, once."""
    return ISSUER.token(user, lifetime_s=DAY_S)


@dataclass
class Answers:
    """When each came, with what status, after how long."""

    each: list[tuple[float, int, float]] = field(default_factory=list)

    @property
    def statuses(self) -> Counter[int]:
        """Count them."""
        return Counter(status for _, status, _ in self.each)

    def rate(self) -> float:
        """Return how many came a second."""
        times = [at for at, _, _ in self.each]
        return len(times) / (max(times) - min(times))

    def milliseconds(self, quantile: float) -> float:
        """Return how long the good ones took, all but so many of them."""
        took = sorted(took for _, status, took in self.each if status == HTTPStatus.OK)
        return took[min(int(len(took) * quantile), len(took) - 1)] * 1000


def asked(port: int, connections: int, seconds: float, next_request: Callable[[], tuple[str, str | None]]) -> Answers:
    """Ask for so long on so many connections, each again as soon as it has its answer."""
    answers = Answers()
    until = time.perf_counter() + seconds

    def ask(_: int) -> None:
        with Connection(port) as connection:
            while (began := time.perf_counter()) < until:
                path, user = next_request()
                status, _body = connection.get(path, user)
                ended = time.perf_counter()
                answers.each.append((ended, status, ended - began))

    with ThreadPoolExecutor(connections) as threads:
        list(threads.map(ask, range(connections)))
    return answers


def median(values: Iterable[float]) -> float:
    """Return the middle one."""
    return statistics.median(values)
