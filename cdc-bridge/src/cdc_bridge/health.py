"""GET /healthz, /readyz and /metrics, beside the work.

Rule: alive means that the process answers; ready means progress, so the question goes to whoever makes it.
"""

import json
import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from socketserver import ThreadingMixIn
from typing import TYPE_CHECKING
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from prometheus_client import make_wsgi_app

if TYPE_CHECKING:
    from collections.abc import Iterable
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

_log = logging.getLogger(__name__)


def health_app(waiting_for: Callable[[], list[str]], gaps: Callable[[], list[str]]) -> "WSGIApplication":
    """Answer for a process that is ready when it waits for nothing."""
    metrics = make_wsgi_app()

    def app(environ: "WSGIEnvironment", start_response: "StartResponse") -> "Iterable[bytes]":
        body: dict[str, object]
        match environ["PATH_INFO"]:
            case "/metrics":
                return metrics(environ, start_response)  # type: ignore[no-any-return]
            case "/healthz":
                status, body = "200 OK", {"status": "alive"}
            case "/readyz":
                waiting = waiting_for()
                status = "503 Service Unavailable" if waiting else "200 OK"
                body = {"status": "waiting" if waiting else "ready", "waiting_for": waiting, "gaps": gaps()}
            case _:
                status, body = "404 Not Found", {"status": "no such page"}
        start_response(status, [("Content-Type", "application/json")])
        return [json.dumps(body).encode()]

    return app


@contextmanager
def serving(host: str, port: int, waiting_for: Callable[[], list[str]], gaps: Callable[[], list[str]]) -> Iterator[int]:
    """Serve in a thread for as long as the context lasts; give the port, which port 0 leaves to the system."""
    with make_server(host, port, health_app(waiting_for, gaps), _Server, _Handler) as server:
        thread = threading.Thread(target=server.serve_forever, name="health", daemon=True)
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class _Handler(WSGIRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - http.server's name
        _log.debug(format, *args)
