"""Probes are answered whatever else happens."""

import json
import socket
import threading
import urllib.request
from contextlib import ExitStack
from urllib.error import HTTPError

import pytest

from murmuration_runtime import admin
from murmuration_runtime.metrics import announce_build
from murmuration_testkit.waiting import eventually


def get(port, path):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5) as answer:
            return answer.status, answer.read()
    except HTTPError as refusal:
        return refusal.code, refusal.read()


@pytest.fixture
def waiting():
    return []


@pytest.fixture
def port(waiting):
    with admin.serving("127.0.0.1", 0, lambda: waiting) as port:
        yield port


def test_ready_means_that_nothing_is_waited_for(port, waiting):
    """And 503 says what is."""
    assert json.loads(get(port, "/readyz")[1]) == {"status": "ready", "waiting_for": []}
    waiting.append("redis: away")
    status, body = get(port, "/readyz")
    assert (status, json.loads(body)["waiting_for"]) == (503, ["redis: away"])
    assert b"process_ready 0.0" in get(port, "/metrics")[1]
    waiting.clear()
    assert b"process_ready 1.0" in get(port, "/metrics")[1]
    assert get(port, "/healthz")[0] == 200


def test_the_metrics_say_what_is_running(port):
    """Version and commit, beside the process's own figures."""
    announce_build("murmuration-runtime", "abc123", {"topics": "", "tables": ""})
    text = get(port, "/metrics")[1].decode()
    assert 'build_info{commit="abc123"' in text
    assert "process_resident_memory_bytes" in text


def test_half_a_request_holds_nobody_up(port):
    """Forty clients that never finish their request, and a probe is answered at once."""
    held = [socket.create_connection(("127.0.0.1", port)) for _ in range(40)]
    for each in held:
        each.sendall(b"GET /healthz HT")
    assert get(port, "/healthz")[0] == 200
    for each in held:
        each.close()


def test_who_sends_a_byte_now_and_then_is_not_waited_for():
    """A request has one deadline; a byte does not put it off."""
    with (
        admin.serving("127.0.0.1", 0, list, patience=0.5) as port,
        socket.create_connection(("127.0.0.1", port)) as client,
    ):
        client.settimeout(0.1)

        def is_over():
            try:
                client.sendall(b"G")
                return client.recv(1) == b""
            except TimeoutError:
                return False
            except OSError:
                return True

        eventually(is_over, True, within=5)


def test_of_very_many_half_requests_the_oldest_gives_way(port):
    """So they hold a bounded number of threads, and a probe is answered all the same."""
    with ExitStack() as stack:
        held = [stack.enter_context(socket.create_connection(("127.0.0.1", port))) for _ in range(admin.MOST + 5)]
        assert get(port, "/healthz")[0] == 200
        held[0].settimeout(2)
        assert held[0].recv(1) == b""
        eventually(lambda: len(busy()) <= admin.MOST, True, within=2)


def busy():
    """Return the threads that answer somebody."""
    return [thread for thread in threading.enumerate() if "process_request_thread" in thread.name]


def test_any_other_page_is_told_what_there_is(port):
    """The API has a port of its own."""
    assert get(port, "/v1/users/me")[0] == 404


def test_a_port_that_is_taken_is_named(port):
    """The start stops, and says which."""
    with pytest.raises(OSError, match=f"ADMIN_PORT {port} cannot be served on 127.0.0.1"):
        admin.start("127.0.0.1", port, list)
