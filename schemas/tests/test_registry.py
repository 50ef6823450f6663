"""The registry's client: away is not the same as not registered."""

import socket
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from contracts import TOPICS, ContractError
from contracts.registry import Registry, RegistryAwayError, codec_for

FOLLOWS = TOPICS["FollowChanged"]


@pytest.fixture
def answering():
    """Serve one answer to every question."""
    servers = []

    def serve(status, body):
        class Answer(BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(status)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                """Say nothing."""

        server = HTTPServer(("127.0.0.1", 0), Answer)
        servers.append(server)
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        return f"http://127.0.0.1:{server.server_port}/"

    yield serve
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize(
    ("status", "body"), [(500, b"{}"), (503, b"soon"), (401, b"who?"), (200, b"<html>"), (200, b"{}"), (200, b"[]")]
)
def test_a_registry_that_does_not_answer_sensibly_is_away(answering, status, body):
    """A gateway's page, a start in progress: try again later."""
    with pytest.raises(RegistryAwayError, match="FollowChanged-value"):
        codec_for(FOLLOWS, answering(status, body))


def test_a_registry_that_nobody_runs_is_away():
    """A refused connection names the address."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(RegistryAwayError, match=f"127.0.0.1:{port}.*refused"):
        codec_for(FOLLOWS, f"http://127.0.0.1:{port}")


def test_a_registry_that_hangs_is_away():
    """It accepts and says nothing: the call ends all the same."""
    with socket.create_server(("127.0.0.1", 0)) as silent, pytest.raises(RegistryAwayError, match="timed out"):
        Registry(f"http://127.0.0.1:{silent.getsockname()[1]}", timeout_s=0.1).schema(1)


def test_a_subject_that_is_missing_says_what_to_run(answering):
    """Nobody can wait this out."""
    with pytest.raises(ContractError, match="FollowChanged-value is not registered, run `python -m contracts apply`"):
        codec_for(FOLLOWS, answering(404, b'{"error_code": 40401}'))
