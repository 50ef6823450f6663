"""Pages of the web, fetched within bounds of time and size.

Rule: a timeout of Python's is for one wait, and a server that sends a byte now and then makes each of them short. So
another thread ends the connection when the time is over, however far it is: in the handshake, the headers or the page.
"""

import socket
import threading
from contextlib import suppress
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from typing import Any
from urllib.request import HTTPHandler, HTTPSHandler, Request, build_opener

WAIT_SECONDS = 3.0  # for the connection, and for each part of an answer
PAGE_SECONDS = 10.0  # for a whole page, redirects and all
LARGEST_PAGE = 256 * 1024
_PART = 16 * 1024


class BadPageError(Exception):
    """The page could not be fetched, or what it says is of no use."""


def page(url: str) -> bytes:
    """Fetch a page, but not for longer, and no more, than the bounds say."""
    sockets = _Sockets()
    ending = threading.Timer(PAGE_SECONDS, sockets.end)
    ending.daemon = True
    ending.start()
    text = b""
    try:
        with build_opener(_Http(sockets), _Https(sockets)).open(url, timeout=WAIT_SECONDS) as answer:
            while part := answer.read1(_PART):
                text += part
                if len(text) > LARGEST_PAGE:
                    raise BadPageError(f"{url} has more than {LARGEST_PAGE} bytes")
    except (OSError, HTTPException, ValueError) as error:
        if not sockets.are_over:
            raise BadPageError(f"{url} cannot be fetched: {error}") from error
    finally:
        ending.cancel()
        sockets.close()
    if sockets.are_over:  # headers or a page that were cut look whole to http.client
        raise BadPageError(f"{url} is not sent within {PAGE_SECONDS:.0f} s")
    return text


class _Sockets:
    """The sockets of one fetch, which can be shut down whatever is wrapped around them. Safe among threads."""

    def __init__(self) -> None:
        self.are_over = False
        self._open: list[socket.socket] = []
        self._changing = threading.Lock()

    def connect(self, *args: Any) -> socket.socket:
        """Connect as http.client does; args are those of socket.create_connection."""
        made = socket.create_connection(*args)
        with self._changing:
            self._open.append(made.dup())  # TLS takes the socket itself away
        if self.are_over:
            self.end()
        return made

    def end(self) -> None:
        """Shut down all that there are, and all that are made from now on."""
        self.are_over = True
        with self._changing:
            for each in self._open:
                with suppress(OSError):  # it is closed by the server
                    each.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Give the sockets back."""
        with self._changing:
            while self._open:
                self._open.pop().close()


class _Http(HTTPHandler):
    def __init__(self, sockets: _Sockets) -> None:
        super().__init__()
        self._sockets = sockets

    def http_open(self, req: Request) -> HTTPResponse:
        return self.do_open(_made_by(HTTPConnection, self._sockets), req)


class _Https(HTTPSHandler):
    def __init__(self, sockets: _Sockets) -> None:
        super().__init__()
        self._sockets = sockets

    def https_open(self, req: Request) -> HTTPResponse:
        return self.do_open(_made_by(HTTPSConnection, self._sockets), req)


def _made_by(kind: type[HTTPConnection], sockets: _Sockets) -> Any:
    def make(*args: Any, **options: Any) -> HTTPConnection:
        connection = kind(*args, **options)
        connection._create_connection = sockets.connect  # type: ignore[attr-defined] # noqa: SLF001 - no other way in
        return connection

    return make
