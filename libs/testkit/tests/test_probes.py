"""What is read of a process over HTTP."""

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

from murmuration_testkit.ports import free_port
from murmuration_testkit.probes import get, metric, metrics

EXPOSED = """# HELP events_total Events by topic.
# TYPE events_total counter
events_total{topic="FollowChanged"} 2.0
events_total{topic="TweetCreated"} 3.0
lag_seconds 0.25
"""


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200 if self.path == "/metrics" else 503)
        self.end_headers()
        self.wfile.write(EXPOSED.encode() if self.path == "/metrics" else b"waiting")

    def log_message(self, *_):
        """Say nothing."""


@contextmanager
def serving():
    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


def test_metrics_are_added_up_over_their_labels():
    """One figure a name."""
    with serving() as port:
        assert metrics(port) == {"events_total": 5.0, "lag_seconds": 0.25}
        assert (metric(port, "events_total"), metric(port, "another")) == (5.0, 0.0)


def test_whatever_is_answered_is_returned():
    """A refusal is an answer; nobody there is status 0, and no metrics."""
    with serving() as port:
        assert get(f"http://127.0.0.1:{port}/readyz") == (503, "waiting")
    nobody = free_port()
    assert get(f"http://127.0.0.1:{nobody}/readyz") == (0, "")
    assert metric(nobody, "events_total") == 0.0
