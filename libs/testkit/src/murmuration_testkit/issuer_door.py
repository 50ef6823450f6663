"""Where an issuer publishes its keys, over HTTP: with faults, for tests of what services make of them."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KEYS, DISCOVERY = "/keys", "/.well-known/openid-configuration"


class IssuerDoor:
    """What is answered to whoever asks for keys; a test changes it while it serves."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.pages: dict[str, bytes] = {}
        self.wait_s = 0.0  # before each answer
        self.asked: list[str] = []
        self._resumed = threading.Event()
        self._resumed.set()

    def publish(self, *keys: dict[str, Any]) -> None:
        """Publish these keys, and no others."""
        self.pages[KEYS] = json.dumps({"keys": keys}).encode()

    def hang(self) -> None:
        """Take requests and answer none, until resume."""
        self._resumed.clear()

    def resume(self) -> None:
        """Answer again, also what waits."""
        self._resumed.set()

    def answer(self, path: str) -> bytes | None:
        """Return what to say; None where there is nothing."""
        self.asked.append(path)
        time.sleep(self.wait_s)
        self._resumed.wait()
        return self.pages.get(path)


@contextmanager
def issuer_door(port: int = 0) -> Iterator[IssuerDoor]:
    """Serve until the context ends; port 0 lets the system choose one."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            page = door.answer(self.path)
            self.send_response(200 if page is not None else 404)
            self.end_headers()
            self.wfile.write(page or b"")

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - http.server's name
            """Say nothing."""

    server = _Server(("127.0.0.1", port), Handler)
    door = IssuerDoor(server.server_port)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    try:
        yield door
    finally:
        door.resume()
        server.shutdown()
        server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of a client that went away."""
