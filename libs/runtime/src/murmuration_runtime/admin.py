"""The admin port: GET /healthz, /readyz and /metrics, on a port and a thread of their own.

Rule: no answer here waits for a store or for the work. A client that sends half a request, or a byte now and then,
holds nothing but a thread, for so many seconds; of too many requests the oldest ends at once. Alive means that the
process answers, and is not stuck as requests_in_flight.py says; ready is what readiness.py says.
"""

import json
import logging
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from socketserver import ThreadingMixIn
from typing import TYPE_CHECKING, Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from prometheus_client import make_wsgi_app

from murmuration_runtime.metrics import METRICS, READY

if TYPE_CHECKING:
    from collections.abc import Iterable
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

PATIENCE_SECONDS = 10.0  # until a request is sent, answered and its answer read: as long as Prometheus waits
MOST = 100  # requests at once
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


def start(
    host: str, port: int, waiting_for: WaitingFor, are_stuck: AreStuck = never, patience: float = PATIENCE_SECONDS
) -> WSGIServer:
    """Serve in a thread until the process ends or the server is shut down; port 0 lets the system choose one."""
    try:
        server = make_server(host, port, admin_app(waiting_for, are_stuck), _Server, _Handler)
    except OSError as error:
        raise OSError(error.errno, f"ADMIN_PORT {port} cannot be served on {host}: {error.strerror}") from error
    server.patience = patience
    READY.set_function(lambda: float(not waiting_for()))
    threading.Thread(target=server.serve_forever, name="admin", daemon=True).start()
    return server


@contextmanager
def serving(
    host: str, port: int, waiting_for: WaitingFor, are_stuck: AreStuck = never, patience: float = PATIENCE_SECONDS
) -> Iterator[int]:
    """Serve for as long as the context lasts; give the port."""
    server = start(host, port, waiting_for, are_stuck, patience)
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True
    request_queue_size = 128
    patience = PATIENCE_SECONDS

    def __init__(self, address: tuple[str, int], handler: type[WSGIRequestHandler]) -> None:
        self._until: dict[Any, float] = {}  # the oldest first
        super().__init__(address, handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer in a thread of its own."""
        self._until[request] = time.monotonic() + self.patience
        super().process_request(request, client_address)

    def service_actions(self) -> None:
        """End what takes too long, and the oldest of too many. The server calls this twice a second at least."""
        open_now = [*self._until.items()]
        for place, (request, until) in enumerate(open_now):
            if until < time.monotonic() or place < len(open_now) - MOST:
                with suppress(OSError):  # it has just ended
                    request.shutdown(socket.SHUT_RDWR)

    def shutdown_request(self, request: Any) -> None:
        """Close it, in the thread that answered."""
        self._until.pop(request, None)
        super().shutdown_request(request)

    def handle_error(self, request: object, client_address: object) -> None:  # noqa: ARG002 - socketserver's names
        """Log what a client broke off; the default writes a traceback to stderr."""
        _log.debug("a client broke off", extra={"client": str(client_address)}, exc_info=True)


class _Handler(WSGIRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - http.server's name
        _log.debug(format, *args)
