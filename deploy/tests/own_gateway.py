"""A gateway of our own, started as its image starts it, before an edge that repeats what it was asked."""

import json
import os
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from email.message import Message
from email.parser import BytesParser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

from murmuration_testkit import REPOSITORY
from murmuration_testkit.ports import free_ports
from murmuration_testkit.probes import get
from murmuration_testkit.waiting import eventually

COMMAND = [sys.executable, "-m", "murmuration_gateway"]
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
        """Send these bytes, and read the answer until the connection ends."""
        with self.connect(port, context) as connection:
            with suppress(BrokenPipeError, ConnectionResetError):
                connection.sendall(request)
            return _read(connection)

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
    edge = ThreadingHTTPServer(("127.0.0.1", 0), _Echo)
    threading.Thread(target=edge.serve_forever, daemon=True).start()
    echo = f"127.0.0.1:{edge.server_port}"
    environment = {
        "PATH": PATH,
        "TMPDIR": str(directory),
        "PORT": str(port),
        "ADMIN_PORT": str(admin_port),
        "FOLLOW_SERVICE": echo,
        "TWEET_SERVICE": echo,
        "TIMELINE_SERVICE": "127.0.0.1:9",
        **settings,
    }
    with (directory / "log").open("w+") as log:
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
            edge.shutdown()
            edge.server_close()
            log.seek(0)
            running.said = log.read()


class _Echo(BaseHTTPRequestHandler):
    protocol_version: ClassVar[str] = "HTTP/1.1"

    def _repeat(self) -> None:
        length = int(self.headers.get("Content-Length", 0))
        told = {
            "method": self.command,
            "path": self.path,
            "headers": dict(self.headers),
            "body": len(self.rfile.read(length)),
        }
        body = json.dumps(told).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("do_"):
            return self._repeat
        raise AttributeError(name)

    def log_message(self, *_: object) -> None:
        """Keep the tests' output to themselves."""


def _read(connection: socket.socket) -> Answer:
    received = b""
    with suppress(ConnectionResetError):
        while part := connection.recv(65536):
            received += part
    head, _, body = received.partition(b"\r\n\r\n")
    line, _, headers = head.partition(b"\r\n")
    return Answer(int(line.split()[1]), BytesParser().parsebytes(headers), body)
