"""Ports for processes that a test, a drill or a benchmark starts by itself."""

import random
import socket
from contextlib import ExitStack, suppress

OURS = range(10_000, 20_000)  # above the stack's own, below a second stack's and below what the kernel hands out


def free_ports(count: int) -> list[int]:
    """Return so many different ports of this machine that nobody listens on, and that the kernel gives to nobody."""
    with ExitStack() as held:
        taken: list[int] = []
        while len(taken) < count:
            port = random.choice(OURS)
            with suppress(OSError):
                held.enter_context(socket.create_server(("127.0.0.1", port)))
                taken.append(port)
        return taken


def free_port() -> int:
    """Return a port of this machine that nobody listens on."""
    return free_ports(1)[0]
