"""Connections to a Redis node that lie idle, when the network has forgotten them."""

from types import SimpleNamespace

import pytest
from redis.exceptions import TimeoutError  # noqa: A004 - redis-py's own

from murmuration_runtime.errors import StoreAwayError
from murmuration_runtime.redis_node import Call, RedisNode
from murmuration_runtime.store_gate import StoreGate
from murmuration_testkit.waiting import eventually


class Connection:
    """What redis-py connects; once the network has forgotten it, nothing comes back."""

    is_forgotten = is_closed = False

    def connect(self):
        """Connect at once."""

    def send_command(self, *_command):
        """Take what is sent."""

    def read_response(self, **_timeout):
        if self.is_forgotten:
            raise TimeoutError
        return "PONG"

    def disconnect(self):
        self.is_closed = True


class Network:
    """A node behind connections that can all be forgotten, and the gate before it."""

    def __init__(self):
        self.connections = []
        pool = SimpleNamespace(connection_class=self._connection, connection_kwargs={})
        self.gate = StoreGate("test redis", self._probe, tries=1)
        self.node = RedisNode(SimpleNamespace(connection_pool=pool), self.gate, patience=0)

    def _connection(self, **_options):
        self.connections.append(Connection())
        return self.connections[-1]

    def _probe(self):
        """Answer on a connection of its own, which nobody has forgotten."""

    def leave_idle(self, count):
        calls = [Call(self.node, "PING") for _ in range(count)]
        assert [call.answer() for call in calls] == ["PONG"] * count
        assert len(self.node.idle) == count

    def is_given_up(self):
        try:
            self.gate.enter()
        except StoreAwayError:
            return True
        self.gate.leave(answered=None)
        return False


def test_connections_that_died_silently_are_found_together():
    """One call waits in vain, not one for each of them, with the node given up anew each time."""
    network = Network()
    network.leave_idle(5)
    for connection in network.connections:
        connection.is_forgotten = True
    with pytest.raises(TimeoutError):
        network.node.call("PING")
    assert all(connection.is_closed for connection in network.connections)
    eventually(network.is_given_up, False)
    assert network.node.call("PING") == "PONG"
