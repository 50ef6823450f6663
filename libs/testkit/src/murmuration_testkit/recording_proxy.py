"""Stands before DynamoDB Local, passes everything on, and notes what each service asked IAM for, by its access key."""

import http.client
import json
import re
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from murmuration_testkit.iam import Ask, access_keys, asks

HOST = "127.0.0.1"
PATIENCE_S = 60
Before = Callable[[str, str, dict[str, Any]], object]  # who asks, the operation, the request


class Recorder(ThreadingHTTPServer):
    """The proxy; `asked` has what was asked for, by service, `strangers` the access keys that nobody has."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, port: int, behind: int, before: Before) -> None:
        """Listen on a port, with the store behind another; call `before` each request that a service sends."""
        super().__init__((HOST, port), _Handler)
        self.behind = behind
        self.before = before
        self.keys = access_keys()
        self.asked: dict[str, set[Ask]] = defaultdict(set)
        self.strangers: set[str] = set()
        self._lock = threading.Lock()

    def note(self, key: str, operation: str, request: dict[str, Any]) -> None:
        """Remember what one request asks for."""
        service = self.keys.get(key)
        with self._lock:
            if service is None:
                self.strangers.add(key)
            else:
                self.asked[service] |= {*asks(operation, request)}
        if service is not None:
            self.before(service, operation, request)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Recorder

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        key = re.search(r"Credential=([^/]+)/", self.headers.get("Authorization", ""))
        self.server.note(key[1] if key else "", self.headers["X-Amz-Target"].partition(".")[2], json.loads(body))
        headers = {name: value for name, value in self.headers.items() if name.lower() != "connection"}
        store = http.client.HTTPConnection(HOST, self.server.behind, timeout=PATIENCE_S)  # none that may have ended
        try:
            store.request("POST", self.path, body, headers)
            answer = store.getresponse()
            self._pass_on(answer, answer.read())
        except (OSError, http.client.HTTPException):  # one of them ends: as if there were no proxy
            self.close_connection = True
        finally:
            store.close()

    def _pass_on(self, answer: http.client.HTTPResponse, found: bytes) -> None:
        self.send_response_only(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in ("connection", "content-length", "transfer-encoding"):
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(found)))
        self.end_headers()
        self.wfile.write(found)

    def log_message(self, *_: object) -> None:
        """Say nothing of each request."""


@contextmanager
def recording(port: int, behind: int, before: Before = lambda *_: None) -> Iterator[Recorder]:
    """Have the proxy for as long as the context lasts."""
    with Recorder(port, behind, before) as proxy:
        thread = threading.Thread(target=proxy.serve_forever, daemon=True)
        thread.start()
        try:
            yield proxy
        finally:
            proxy.shutdown()
            thread.join()
