"""A gateway of our own, started as its image starts it, before an edge that repeats what it was asked."""

import json
import os
import socket
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from email.message import Message
from email.parser import BytesParser
from pathlib import Path
from typing import Any

from murmuration_testkit import REPOSITORY, answer_guard
from murmuration_testkit.ports import free_ports
from murmuration_testkit.probes import get
from murmuration_testkit.waiting import eventually

from .echo_edge import MARK, echo_edge

COMMAND = [sys.executable, "-m", "murmuration_gateway"]
HOST = b"Host: api.example\r\nConnection: close\r\n\r\n"
FOLLOW = b"GET /v1/users/a HTTP/1.1\r\n"
TO_HTTPS = 308  # is no answer of an operation
FEW_FILES = ("prlimit", "--nofile=512:8192")  # what many a machine allows at first, and what it allows at most
PATH = f"{REPOSITORY}/.stack/parts/bin:{os.environ['PATH']}"


@dataclass(frozen=True)
class Answer:
    """What came back: status, headers, and the body as it was."""

    status: int
    headers: Message
    body: bytes

    @property
    def json(self) -> Any:
        """The body, read as JSON."""
        return json.loads(self.body)


class OwnGateway:
    """A gateway that runs: where it listens, and what it said when it has ended."""

    def __init__(self, process: "subprocess.Popen[str]", port: int, admin_port: int) -> None:
        self.process = process
        self.port = port
        self.admin_port = admin_port
        self.said = ""

    def send(self, request: bytes, port: int = 0, context: ssl.SSLContext | None = None) -> Answer:
        """Send these bytes, and read the answer until the connection ends; compare it unless it repeats the request."""
        with self.connect(port, context) as connection:
            with suppress(BrokenPipeError, ConnectionResetError):
                connection.sendall(request)
            answer = _read(connection)
        if MARK not in answer.headers and answer.status != TO_HTTPS:
            method, path, *_ = request.decode("latin-1").split(" ")
            answer_guard.compare(method, path, answer.status, dict(answer.headers), answer.body)
        return answer

    def ask(self, method: str, path: str, body: bytes = b"", port: int = 0, **headers: str) -> Answer:
        """Send a request as a well-behaved client writes it; an underscore in a header's name is a hyphen."""
        lines = {"Host": "127.0.0.1", "Connection": "close"} | ({"Content-Length": str(len(body))} if body else {})
        lines |= {name.replace("_", "-"): value for name, value in headers.items()}
        head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        return self.send(f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode() + body, port)

    def connect(self, port: int = 0, context: ssl.SSLContext | None = None) -> socket.socket:
        """Connect to it, by TLS if there is a context."""
        plain = socket.create_connection(("127.0.0.1", port or self.port), timeout=10)
        return context.wrap_socket(plain, server_hostname="127.0.0.1") if context else plain


@contextmanager
def own_gateway(directory: Path, **settings: str) -> Iterator[OwnGateway]:
    """Run a gateway whose follow-service and tweet-service repeat what they are asked; timeline-service is away."""
    port, admin_port = free_ports(2)
    with (directory / "log").open("w+") as log, echo_edge() as edge:
        environment = {
            "PATH": PATH,
            "TMPDIR": str(directory),
            "PORT": str(port),
            "ADMIN_PORT": str(admin_port),
            "FOLLOW_SERVICE": edge,
            "TWEET_SERVICE": edge,
            "TIMELINE_SERVICE": "127.0.0.1:9",
            **settings,
        }
        process = subprocess.Popen([*FEW_FILES, *COMMAND], env=environment, stdout=log, text=True)
        running = OwnGateway(process, port, admin_port)

        def healthy() -> bool:
            assert process.poll() is None, "the gateway has ended"
            return get(f"http://127.0.0.1:{admin_port}/healthz")[0] == 200

        try:
            eventually(healthy)
            yield running
        finally:
            process.terminate()
            process.wait(20)
            log.seek(0)
            running.said = log.read()


def is_problem(answer: Answer, status: int, code: str) -> None:
    """Hold an answer to the form that every problem has."""
    assert answer.status == status, answer.body
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    problem = answer.json
    assert {name: problem[name] for name in ("type", "code", "status")} == {
        "type": f"/problems/{code}",
        "code": code,
        "status": status,
    }
    assert problem["title"]
    assert problem["detail"]
    assert problem["request_id"] == answer.headers["X-Request-ID"]


def _read(connection: socket.socket) -> Answer:
    received = b""
    with suppress(ConnectionResetError):
        while part := connection.recv(65536):
            received += part
    head, _, body = received.partition(b"\r\n\r\n")
    line, _, headers = head.partition(b"\r\n")
    return Answer(int(line.split()[1]), BytesParser().parsebytes(headers), body)
