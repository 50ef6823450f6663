"""A store that takes connections and never answers, as one does that hangs."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def silent_store() -> Iterator[int]:
    """Listen on a port of this machine for as long as the context lasts; give the port."""
    with socket.create_server(("127.0.0.1", 0), backlog=128) as server:
        yield server.getsockname()[1]
