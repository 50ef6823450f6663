"""The service as it is run: gunicorn, with the settings that all edges share."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
import urllib3

from murmuration_testkit.ports import free_port
from murmuration_testkit.probes import get
from murmuration_testkit.silent_store import silent_store
from murmuration_testkit.waiting import eventually

THREADS = 16
SLACK = 1.5  # for a busy machine; without the deadline it takes more than two seconds
ENDED_S = 16.0  # less than the 20 that gunicorn grants, on a busy machine
AT_ONCE = 1.0  # seconds; a probe's usual patience
COMMAND = [sys.executable, "-m", "gunicorn", "-c", "python:murmuration_edge.gunicorn", "served:create_app()"]


class Served:
    """A process of gunicorn."""

    def __init__(self, **environment):
        self.port, self.admin_port = free_port(), free_port()
        ports = {"HOST": "127.0.0.1", "PORT": str(self.port), "ADMIN_PORT": str(self.admin_port)}
        jwt = {"JWT_JWKS_URL": "http://127.0.0.1:9/", "JWT_ISSUER": "issuer", "JWT_AUDIENCE": "audience"}
        self.process = subprocess.Popen(  # noqa: S603 - our own command
            COMMAND,
            cwd=Path(__file__).parent,
            env={
                name: text for name, text in {**os.environ, **ports, **jwt, **environment}.items() if text is not None
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def probe(self, page):
        """Return the status and the body; status 0 if nobody answers."""
        return get(f"http://127.0.0.1:{self.admin_port}/{page}", AT_ONCE)

    def worker(self):
        """Return the pid of the worker; 0 while there is none."""
        pid = self.process.pid
        return int(Path(f"/proc/{pid}/task/{pid}/children").read_text() or 0)

    def alive(self):
        return self.probe("healthz")[0] == 200

    def ended(self):
        """Wait for its end; return its status and what it wrote."""
        try:
            told, _ = self.process.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()
            raise
        return self.process.returncode, told

    def end(self):
        """Ask it to end; return what it wrote."""
        self.process.terminate()
        return self.ended()[1]


@contextmanager
def hanging(**environment):
    """Serve on a store that takes connections and never answers."""
    with silent_store() as port, served(AWS_ENDPOINT_URL_DYNAMODB=f"http://127.0.0.1:{port}", **environment) as service:
        yield service


@contextmanager
def served(**environment):
    """Serve, until the context ends."""
    service = Served(**environment)
    try:
        eventually(service.alive, expected=True, within=30)
        yield service
    finally:
        service.end()


def test_probes_are_answered_while_every_thread_is_held_up():
    """Sixteen half-sent requests hold all threads of the pool; the admin port has a thread of its own."""
    with hanging() as service, ExitStack() as held:
        for _ in range(THREADS):
            client = held.enter_context(socket.create_connection(("127.0.0.1", service.port)))
            client.sendall(b"GET /v1/things HTTP/1.1\r\nHost: x\r\nX-Half")
        one_more = held.enter_context(socket.create_connection(("127.0.0.1", service.port)))
        one_more.sendall(b"GET /v1/nothing HTTP/1.1\r\nHost: x\r\n\r\n")
        for _ in range(5):
            began = time.monotonic()
            assert service.probe("healthz")[0] == 200
            assert service.probe("readyz")[0] == 503
            assert time.monotonic() - began < AT_ONCE
        one_more.settimeout(0.3)
        with pytest.raises(TimeoutError):  # so the pool was held up indeed
            one_more.recv(1)


def test_probes_do_not_wait_for_a_store_that_never_answers():
    """Ready is what was found the last time somebody looked: here, that nothing has answered yet."""
    with hanging() as service:
        began = time.monotonic()
        assert service.probe("healthz")[0] == 200
        status, body = service.probe("readyz")
        assert time.monotonic() - began < AT_ONCE
        assert (status, json.loads(body)["waiting_for"][0][:9]) == (503, "dynamodb:")


def timed(ask, *given):
    """Return what came, and after how many seconds."""
    began = time.monotonic()
    came = ask(*given)
    return came, time.monotonic() - began


def test_while_a_store_hangs_each_request_is_answered_within_its_deadline():
    """However many come at once; the probes answer at once all the while, and the process counts as alive."""
    with hanging(REQUEST_SECONDS="0.5", STUCK_SECONDS="1") as service, ThreadPoolExecutor(THREADS) as clients:

        def ask():
            return urllib3.request("GET", f"http://127.0.0.1:{service.port}/stored", retries=False)

        asked = [clients.submit(timed, ask) for _ in range(3 * THREADS)]
        probed = [timed(service.probe, page) for _ in range(10) for page in ("healthz", "metrics")]
        answered = [each.result() for each in asked]
        assert {answer.status for answer, _ in answered} == {503}
        assert max(seconds for _, seconds in answered) < 0.5 + SLACK
        assert {status for (status, _), _ in probed} == {200}
        assert max(seconds for _, seconds in probed) < 0.1 + SLACK
        assert {answer.headers["Retry-After"] for answer, _ in answered} == {"1"}


def test_a_process_that_hangs_by_itself_is_not_alive():
    """A supervisor starts it again."""
    with served(AWS_ENDPOINT_URL_DYNAMODB="http://127.0.0.1:9", STUCK_SECONDS="0.5") as service:
        asleep = socket.create_connection(("127.0.0.1", service.port))
        asleep.sendall(b"GET /asleep HTTP/1.1\r\nHost: x\r\n\r\n")
        eventually(lambda: service.probe("healthz"), (503, '{"status": "stuck"}'), within=5)
        os.kill(service.worker(), signal.SIGKILL)  # as a supervisor does, for it will not end by itself
        asleep.close()


def test_a_service_whose_store_hangs_ends_when_it_is_asked_to():
    """Within its requests' deadline and a moment."""
    with hanging() as service:
        clients = [socket.create_connection(("127.0.0.1", service.port)) for _ in range(THREADS)]
        for client in clients:
            client.sendall(b"GET /stored HTTP/1.1\r\nHost: x\r\n\r\n")
        _, seconds = timed(service.end)
        assert seconds < ENDED_S
        for client in clients:
            client.close()


def test_the_metrics_of_the_worker_are_on_the_admin_port():
    """Requests are counted where they are answered."""
    with served(AWS_ENDPOINT_URL_DYNAMODB="http://127.0.0.1:9") as service:
        for page, status in (("v1/things", 401), ("metrics", 404)):
            assert urllib3.request("GET", f"http://127.0.0.1:{service.port}/{page}").status == status
        text = service.probe("metrics")[1]
        assert 'http_request_seconds_count{method="GET",route="/v1/things",status="401"} 1.0' in text
        assert 'build_info{commit="unknown"' in text


def test_a_worker_that_dies_is_replaced_and_its_probes_with_it():
    """The new one starts from the application that was built before the first fork."""
    with served(AWS_ENDPOINT_URL_DYNAMODB="http://127.0.0.1:9") as service:
        first = service.worker()
        os.kill(first, signal.SIGKILL)
        eventually(lambda: service.worker() not in (0, first), expected=True)
        eventually(lambda: "127.0.0.1:9" in service.probe("readyz")[1], expected=True)


def test_every_line_of_the_log_is_json():
    """Gunicorn's own, the request's, and what readiness waits for."""
    with served(AWS_ENDPOINT_URL_DYNAMODB="http://127.0.0.1:9") as service:
        urllib3.request("GET", f"http://127.0.0.1:{service.port}/v1/things", headers={"X-Request-ID": "abc"})
        eventually(lambda: "127.0.0.1:9" in service.probe("readyz")[1])
        lines = [json.loads(line) for line in service.end().splitlines()]
    assert {"request", "not ready"} <= {line["message"] for line in lines}
    assert [line["request_id"] for line in lines if line["message"] == "request"] == ["abc"]
    assert {frozenset(line) & {"time", "level", "logger", "message"} for line in lines} == {
        frozenset({"time", "level", "logger", "message"})
    }


def refused_by(service, request):
    """Send these bytes; return the status and the problem."""
    with socket.create_connection(("127.0.0.1", service.port), 5) as connection:
        connection.sendall(request)
        with connection.makefile("rb") as answer:
            head, _, body = answer.read().partition(b"\r\n\r\n")
    assert b"\r\nContent-Type: application/problem+json\r\n" in head + b"\r\n"
    problem = json.loads(body)
    assert f"X-Request-ID: {problem['request_id']}".encode() in head
    return int(head.split()[1]), problem


def test_what_gunicorn_cannot_read_is_a_problem_too():
    """Flask never sees it; a client has one kind of error to read all the same."""
    headers = b"".join(b"X-%d: a\r\n" % n for n in range(200))
    asked = {
        b"GET /v1/\xc3\xa4\x01 HTTP/1.1\r\n\r\n": (400, "bad-request"),
        b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\n\r\n": (414, "uri-too-long"),
        b"GET / HTTP/1.1\r\n" + headers + b"\r\n": (431, "headers-too-large"),
        b"GET / HTTP/1.1\r\nX: " + b"a" * 9000 + b"\r\n\r\n": (431, "headers-too-large"),
        b"POST / HTTP/1.1\r\nTransfer-Encoding: odd\r\n\r\n": (501, "not-implemented"),
    }
    with served() as service:
        eventually(service.alive)
        for request, (status, code) in asked.items():
            found, problem = refused_by(service, request)
            assert (found, problem["status"], problem["code"]) == (status, status, code)
            assert problem["type"] == f"/problems/{code}"


@pytest.mark.parametrize("name", ["PORT", "ADMIN_PORT", "JWT_ISSUER", "JWT_JWKS_URL"])
def test_a_setting_that_is_wrong_ends_the_process(name):
    """With a sentence that names it; nothing is tried again."""
    status, told = Served(**{name: ""}).ended()
    assert status == 1
    assert f"The environment variable {name} is ''" in told


def test_a_service_that_cannot_be_built_ends_the_process():
    """A worker that fails at the start would be started for ever."""
    status, told = Served(AWS_ENDPOINT_URL_DYNAMODB="nonsense").ended()
    assert status == 1
    assert "Invalid endpoint: nonsense" in told
