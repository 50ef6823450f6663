"""Ports that stay free until whoever asked for them listens on them."""

import socket
from pathlib import Path

from murmuration_testkit import ports


def test_ports_are_none_that_the_kernel_may_hand_to_a_connection_meanwhile():
    """An echo server on port 0 once got the port that a gateway was about to listen on."""
    first, last = map(int, Path("/proc/sys/net/ipv4/ip_local_port_range").read_text("utf-8").split())
    assert not set(ports.free_ports(20)) & set(range(first, last + 1))


def test_ports_are_different_and_taken_by_nobody(monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as busy:
        port = busy.getsockname()[1]
        monkeypatch.setattr(ports, "OURS", range(port - 3, port + 1))
        assert port not in ports.free_ports(2)
        assert len(set(ports.free_ports(2))) == 2
