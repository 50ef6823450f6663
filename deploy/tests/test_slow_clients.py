"""Whom slow clients keep waiting: nobody, and not for long."""

import resource
import time
from contextlib import ExitStack

import pytest

from murmuration_testkit.waiting import eventually

from .own_gateway import FOLLOW, HOST, own_gateway

pytestmark = pytest.mark.stack(shared=False)


def test_slow_clients_do_not_keep_others_out(tmp_path):
    """More of them than nginx has connections and files for by default, each in its headers or its body."""
    allowed, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(allowed, min(most, 4096)), most))
    wide = dict.fromkeys(("ADDRESS_RATE", "ADDRESS_BURST", "ADDRESS_CONNECTIONS"), "10000")
    with own_gateway(tmp_path, **wide) as running, ExitStack() as open_ones:
        for number in range(1300):
            slow = open_ones.enter_context(running.connect())
            slow.sendall(FOLLOW[:-2] if number % 2 else b"POST /v1/tweets HTTP/1.1\r\nContent-Length: 100\r\n" + HOST)
        began = time.monotonic()
        assert {running.ask("GET", "/v1/users/a").status for _ in range(20)} == {200}
        assert time.monotonic() - began < 5, "none waits until a slow one is cut off, after ten seconds"


def test_headers_have_ten_seconds_however_steadily_they_come(tmp_path):
    """A byte a second would else be enough to stay for hours."""
    with own_gateway(tmp_path) as running, running.connect() as slow:
        began = time.monotonic()
        slow.settimeout(0.5)
        slow.sendall(FOLLOW + b"X-A: ")

        def is_over() -> bool:
            try:
                slow.sendall(b"a")
                return slow.recv(1) == b""
            except TimeoutError:
                return False
            except OSError:
                return True

        eventually(is_over, within=20)
        assert 9 < time.monotonic() - began < 14
