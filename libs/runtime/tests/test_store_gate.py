"""Nobody waits for long at a store's node that does not answer."""

import queue
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from murmuration_runtime import deadlines
from murmuration_runtime.errors import StoreAwayError
from murmuration_runtime.metrics import METRICS
from murmuration_runtime.store_gate import PATIENCE_SECONDS, StoreGate
from murmuration_testkit.waiting import eventually


class Node:
    """A node that answers probes when it is told to."""

    def __init__(self):
        self.back, self.probes = threading.Event(), 0

    def probe(self):
        self.probes += 1
        if not self.back.is_set():
            raise TimeoutError


@pytest.fixture
def node():
    node = Node()
    yield node
    node.back.set()  # or its probe goes on


def ask(gate, *, answered=True):
    gate.enter()
    gate.leave(answered=answered)


def is_refused(gate):
    try:
        ask(gate)
    except StoreAwayError:
        return True
    return False


def test_a_node_that_does_not_answer_is_given_up_until_a_probe_is_answered(node):
    """Nobody waits for it meanwhile, and it is noticed again within two seconds."""
    gate = StoreGate("test given up", node.probe, tries=2)
    for _ in range(2):
        ask(gate, answered=False)
    assert is_refused(gate)
    assert METRICS.get_sample_value("store_node_given_up", {"node": "test given up"}) == 1
    refused = {"node": "test given up", "reason": "given up"}
    assert METRICS.get_sample_value("store_calls_refused_total", refused) == 1
    eventually(lambda: node.probes > 1, True)
    node.back.set()
    eventually(lambda: is_refused(gate), False, within=2)
    assert METRICS.get_sample_value("store_node_given_up", {"node": "test given up"}) == 0


def test_it_is_given_up_again_when_it_hangs_again(node):
    """The first recovery was not the last."""
    gate = StoreGate("test", node.probe, tries=1)
    for _ in range(2):
        ask(gate, answered=False)
        assert is_refused(gate)
        node.back.set()
        eventually(lambda: is_refused(gate), False, within=2)
        node.back.clear()


def test_a_call_that_had_too_little_time_tells_nothing(node):
    """A deadline that came first is not the node's fault."""
    gate = StoreGate("test", node.probe, tries=1)
    for _ in range(5):
        ask(gate, answered=None)
    assert not is_refused(gate)


def test_when_all_places_have_waited_for_a_while_the_next_call_fails_at_once(node):
    """Threads that nothing can be done for are free for those who need no store."""
    now = [0.0]
    gate = StoreGate("test full", node.probe, tries=9, places=2, clock=lambda: now[0])
    gate.enter()
    gate.enter()
    now[0] += PATIENCE_SECONDS
    with deadlines.within(60):
        assert is_refused(gate)
    assert METRICS.get_sample_value("store_calls_refused_total", {"node": "test full", "reason": "places"}) == 1
    gate.leave(answered=True)
    assert not is_refused(gate)


def test_while_calls_come_and_go_who_comes_waits_for_a_place(node):
    """Many at once are no sign that the store is slow."""
    gate, came = StoreGate("test", node.probe, tries=9, places=1, clock=lambda: 0.0), queue.SimpleQueue()

    def wait():
        gate.enter()
        came.put("came")
        gate.leave(answered=True)

    with ThreadPoolExecutor(3) as threads:
        gate.enter()
        waiting = [threads.submit(wait) for _ in range(3)]
        assert came.empty()
        gate.leave(answered=True)
        for each in waiting:
            each.result(timeout=30)


def test_nobody_waits_for_a_place_longer_than_the_deadline(node):
    """It is over before a place is free."""
    gate = StoreGate("test", node.probe, tries=9, places=1, clock=lambda: 0.0)
    gate.enter()
    with deadlines.within(0.05):
        assert is_refused(gate)
    gate.leave(answered=True)


def test_it_is_known_who_waits_for_what(node):
    """So a request that a store holds up is told from one that hangs by itself."""
    gate = StoreGate("test", node.probe, tries=1)
    with deadlines.within(60) as deadline:
        gate.enter()
        assert deadline.waits_for == ["test"]
        gate.leave(answered=False)
        assert deadline.waits_for == []
        assert is_refused(gate)
        assert deadline.waits_for == []
