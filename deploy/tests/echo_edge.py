"""An edge that repeats what it was asked, for a gateway of a test's own."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

MARK = "X-Echo"  # is in each of its answers


@contextmanager
def echo_edge() -> Iterator[str]:
    """Run one, and return its address."""
    edge = ThreadingHTTPServer(("127.0.0.1", 0), _Echo)
    threading.Thread(target=edge.serve_forever, daemon=True).start()
    try:
        yield f"127.0.0.1:{edge.server_port}"
    finally:
        edge.shutdown()
        edge.server_close()


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
        self.send_header(MARK, "1")
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
