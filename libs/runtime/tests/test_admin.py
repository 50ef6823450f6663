"""Probes are answered whatever else happens."""

import json
import socket
import urllib.request
from urllib.error import HTTPError

import pytest

from murmuration_runtime import admin
from murmuration_runtime.metrics import announce_build


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


def test_any_other_page_is_told_what_there_is(port):
    """The API has a port of its own."""
    assert get(port, "/v1/users/me")[0] == 404


def test_a_port_that_is_taken_is_named(port):
    """The start stops, and says which."""
    with pytest.raises(OSError, match=f"ADMIN_PORT {port} cannot be served on 127.0.0.1"):
        admin.start("127.0.0.1", port, list)
