"""A server that is too large, too slow or away is given up in time."""

import socket
import threading
import time
from contextlib import suppress

import pytest

from murmuration_edge import bounded_pages as pages
from murmuration_edge.bounded_pages import BadPageError, page
from murmuration_testkit.issuer_door import issuer_door


def test_a_page_that_is_too_large_too_slow_or_not_there_is_given_up(monkeypatch):
    """A server can cost the fetcher some seconds and some memory, and no more."""
    with issuer_door() as door:
        door.pages["/keys"] = b"{}"
        assert page(f"{door.url}/keys") == b"{}"
        with pytest.raises(BadPageError, match="404"):
            page(f"{door.url}/nothing")
        door.pages["/large"] = b"x" * 1_000_000
        with pytest.raises(BadPageError, match="more than"):
            page(f"{door.url}/large")
        monkeypatch.setattr(pages, "WAIT_SECONDS", 0.2)
        door.hang()
        began = time.monotonic()
        with pytest.raises(BadPageError, match="timed out"):
            page(f"{door.url}/keys")
        assert time.monotonic() - began < 2
    with pytest.raises(BadPageError, match="refused"):
        page(f"{door.url}/keys")


def dripping(start):
    """Serve one client, by a byte every 50 ms after this start; return the port, and the thread that serves."""
    listening = socket.create_server(("127.0.0.1", 0))

    def serve():
        with listening, listening.accept()[0] as client, suppress(OSError):
            client.settimeout(0.05)
            client.sendall(start)
            while True:
                client.sendall(b"a")
                with suppress(TimeoutError):
                    client.recv(4096)

    serving = threading.Thread(target=serve, daemon=True)
    serving.start()
    return listening.getsockname()[1], serving


@pytest.mark.parametrize(
    ("scheme", "start"),
    [
        ("http", b""),
        ("http", b"HTTP/1.1 200 OK\r\nX-A: "),
        ("http", b"HTTP/1.1 200 OK\r\n\r\n"),
        ("https", b"\x16\x03\x03\x40\x00"),
    ],
)
def test_a_server_that_sends_byte_by_byte_is_given_up_in_time(monkeypatch, scheme, start):
    """In the handshake, the headers or the page: no single wait is long, and all together would never end."""
    monkeypatch.setattr(pages, "PAGE_SECONDS", 0.5)
    port, serving = dripping(start)
    began = time.monotonic()
    with pytest.raises(BadPageError, match="not sent within"):
        page(f"{scheme}://127.0.0.1:{port}/keys")
    assert 0.4 < time.monotonic() - began < 2
    serving.join(5)
    assert not serving.is_alive(), "the connection is closed"
