"""Ports for processes that a test, a drill or a benchmark starts by itself."""

import socket
from contextlib import ExitStack


def free_ports(count: int) -> list[int]:
    """Return so many different ports of this machine that nobody listens on."""
    with ExitStack() as held:
        sockets = [held.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [each.getsockname()[1] for each in sockets]


def free_port() -> int:
    """Return a port of this machine that nobody listens on."""
    return free_ports(1)[0]
