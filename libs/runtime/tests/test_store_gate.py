"""Nobody waits for long at a store's node that does not answer."""

import queue
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from murmuration_runtime import deadlines
from murmuration_runtime.errors import StoreAwayError
from murmuration_runtime.metrics import METRICS
from murmuration_runtime.store_gate import PATIENCE_SECONDS, StoreGate
from murmuration_testkit.no_threads import no_new_threads
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


def test_a_probe_that_could_not_be_started_is_started_later(node):
    """A machine that was out of threads for a moment does not cost the node for ever."""
    gate = StoreGate("test", node.probe, tries=1)
    with no_new_threads():
        ask(gate, answered=False)
        assert is_refused(gate)
    node.back.set()
    eventually(lambda: is_refused(gate), False, within=2)


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


@pytest.fixture
def threads():
    with ThreadPoolExecutor(8) as threads:
        yield threads


class Queue:
    """A gate whose places are taken, and calls that wait for them in a known order."""

    def __init__(self, node, threads, places=1):
        self._looked, self._threads = queue.SimpleQueue(), threads
        self.gate = StoreGate("test", node.probe, tries=1, places=places, clock=self._clock)
        self.order = []
        for _ in range(places):
            self.enter()

    def enter(self):
        self.gate.enter()
        self._looked.get()

    def _clock(self):
        self._looked.put(None)
        return 0.0

    def join(self, name):
        """Have a thread wait, and return when it does: it looks at the clock then."""
        waiting = self._threads.submit(self.ask, name)
        self._looked.get(timeout=30)
        return waiting

    def ask(self, name):
        self.gate.enter()
        self.order.append(name)
        self.gate.leave(answered=True)


def test_a_place_that_is_left_is_handed_to_who_waits_longest(node, threads):
    """Who leaves and comes again at once queues behind: else a thread with many calls lets nobody else through."""
    waits = Queue(node, threads)
    waiting = [waits.join("first"), waits.join("second")]
    waits.gate.leave(answered=True)
    waits.ask("who left")
    for each in waiting:
        each.result(timeout=30)
    assert waits.order == ["first", "second", "who left"]


def test_who_waits_for_a_place_is_turned_away_when_the_node_is_given_up(node, threads):
    """At once, and all of them."""
    waits = Queue(node, threads)
    waiting = [waits.join("first"), waits.join("second")]
    waits.gate.leave(answered=False)
    for each in waiting:
        with pytest.raises(StoreAwayError, match="not answered lately"):
            each.result(timeout=30)
    assert waits.order == []


def test_who_waits_is_turned_away_too_while_a_probe_still_runs(node, threads):
    """An old call was answered late, and the node asked again for a moment."""
    waits = Queue(node, threads, places=2)
    waits.gate.leave(answered=False)
    waits.gate.leave(answered=True)
    waits.enter()
    waits.enter()
    waiting = waits.join("first")
    waits.gate.leave(answered=False)
    with pytest.raises(StoreAwayError, match="not answered lately"):
        waiting.result(timeout=30)


def test_no_place_is_lost_when_deadlines_and_places_come_at_once(node, threads):
    """Who is handed a place that it no longer waits for gives it back."""
    gate = StoreGate("test", node.probe, tries=9, places=2)

    def ask_in_a_hurry(_):
        with deadlines.within(0.0002), suppress(StoreAwayError):
            ask(gate)

    list(threads.map(ask_in_a_hurry, range(2000)))
    with deadlines.within(30):
        for _ in range(2):
            gate.enter()
        for _ in range(2):
            gate.leave(answered=True)


def test_nobody_waits_for_a_place_longer_than_the_deadline(node):
    """It is over before a place is free."""
    gate = StoreGate("test", node.probe, tries=9, places=1, clock=lambda: 0.0)
    gate.enter()
    with deadlines.within(0.05):
        assert is_refused(gate)
    gate.leave(answered=True)
    assert not is_refused(gate)


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
