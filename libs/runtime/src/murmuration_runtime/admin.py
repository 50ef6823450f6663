"""The admin port: GET /healthz, /readyz and /metrics, on a port and a thread of their own.

Rule: no answer here waits for a store or for the work, and a client that sends half a request holds nothing but a
thread that ends by itself. Alive means that the process answers, and is not stuck as requests_in_flight.py says; ready
is what readiness.py says.
"""

import json
import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from socketserver import ThreadingMixIn
from typing import TYPE_CHECKING
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from prometheus_client import make_wsgi_app

from murmuration_runtime.metrics import METRICS, READY

if TYPE_CHECKING:
    from collections.abc import Iterable
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

PATIENCE_SECONDS = 5  # with a client that does not send its request, or does not read the answer
_log = logging.getLogger(__name__)
WaitingFor = Callable[[], Sequence[str]]
AreStuck = Callable[[], bool]


def never() -> bool:
    """Tell that no requests are stuck, for a process that answers none."""
    return False


def admin_app(waiting_for: WaitingFor, are_stuck: AreStuck = never) -> "WSGIApplication":
    """Answer for a process that is ready when it waits for nothing."""
    metrics = make_wsgi_app(METRICS)

    def app(environ: "WSGIEnvironment", start_response: "StartResponse") -> "Iterable[bytes]":
        status = "200 OK"
        match environ["PATH_INFO"]:
            case "/metrics":
                return metrics(environ, start_response)  # type: ignore[no-any-return]
            case "/healthz":
                status = "503 Service Unavailable" if (stuck := are_stuck()) else status
                body: dict[str, object] = {"status": "stuck" if stuck else "alive"}
            case "/readyz":
                waiting = list(waiting_for())
                status = "503 Service Unavailable" if waiting else status
                body = {"status": "waiting" if waiting else "ready", "waiting_for": waiting}
            case _:
                status, body = "404 Not Found", {"status": "only /healthz, /readyz and /metrics are served here"}
        start_response(status, [("Content-Type", "application/json")])
        return [json.dumps(body).encode()]

    return app


def start(host: str, port: int, waiting_for: WaitingFor, are_stuck: AreStuck = never) -> WSGIServer:
    """Serve in a thread until the process ends or the server is shut down; port 0 lets the system choose one."""
    try:
        server = make_server(host, port, admin_app(waiting_for, are_stuck), _Server, _Handler)
    except OSError as error:
        raise OSError(error.errno, f"ADMIN_PORT {port} cannot be served on {host}: {error.strerror}") from error
    READY.set_function(lambda: float(not waiting_for()))
    threading.Thread(target=server.serve_forever, name="admin", daemon=True).start()
    return server


@contextmanager
def serving(host: str, port: int, waiting_for: WaitingFor, are_stuck: AreStuck = never) -> Iterator[int]:
    """Serve for as long as the context lasts; give the port."""
    server = start(host, port, waiting_for, are_stuck)
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: object, client_address: object) -> None:  # noqa: ARG002 - socketserver's names
        """Log what a client broke off; the default writes a traceback to stderr."""
        _log.debug("a client broke off", extra={"client": str(client_address)}, exc_info=True)


class _Handler(WSGIRequestHandler):
    timeout = PATIENCE_SECONDS

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - http.server's name
        _log.debug(format, *args)
