"""Readers that take turns: who waits holds no thread, and who hangs holds up no other."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from cdc_bridge.turns import Turns
from murmuration_testkit.waiting import eventually

LONG = 3600.0


@pytest.fixture
def threads():
    with ThreadPoolExecutor(2) as executor:
        yield executor


class Scripted:
    """Takes steps that a test gives it; an end is said with None."""

    def __init__(self, *steps):
        self._steps = list(steps)
        self.taken = 0
        self.ended = threading.Event()

    def step(self):
        self.taken += 1
        step = self._steps.pop(0)
        return step() if callable(step) else step


def begin(turns, *readers):
    for reader in readers:
        turns.begin(reader, reader.ended.set)


@pytest.fixture
def turns(threads):
    turns = Turns(threads)
    yield turns
    turns.close()


def test_steps_are_taken_until_the_end(turns):
    reader = Scripted(0, 0.01, 0, None)
    begin(turns, reader)
    assert reader.ended.wait(10)
    assert reader.taken == 4


def test_whoever_waits_holds_no_thread(turns):
    """A hundred readers with a long pause, and one that works beside them on two threads."""
    idle, busy = [Scripted(LONG) for _ in range(100)], Scripted(*[0.001] * 50, None)
    begin(turns, *idle, busy)
    assert busy.ended.wait(10)
    eventually(lambda: all(reader.taken == 1 for reader in idle))


def test_a_reader_that_hangs_holds_up_no_other(turns):
    """It has one thread; the others share what is left."""
    over = threading.Event()
    hanging, others = Scripted(lambda: over.wait() and None), [Scripted(*[0.001] * 5, None) for _ in range(20)]
    begin(turns, hanging, *others)
    assert all(reader.ended.wait(10) for reader in others)
    assert not hanging.ended.is_set()
    over.set()
    assert hanging.ended.wait(10)


def test_whoever_is_woken_need_not_wait(turns):
    """In its pause, or in the step before it."""
    stepping, go_on = threading.Event(), threading.Event()

    def pause_when_told():
        stepping.set()
        go_on.wait()
        return LONG

    waiting, working = Scripted(LONG, None), Scripted(pause_when_told, None)
    begin(turns, waiting, working)
    eventually(lambda: waiting.taken == 1)
    stepping.wait()
    turns.wake(waiting)
    turns.wake(working)
    go_on.set()
    assert waiting.ended.wait(10)
    assert working.ended.wait(10)


def test_a_step_that_fails_ends_its_reader_and_no_other(turns, caplog):
    """Nothing should come out of a step; what does is logged, and the shard is free again when its lease runs out."""

    def fail():
        raise RuntimeError("a bug")

    failing, other = Scripted(fail), Scripted(0, 0.01, None)
    begin(turns, failing, other)
    assert failing.ended.wait(10)
    assert other.ended.wait(10)
    assert [entry.message for entry in caplog.records] == ["a shard's reader failed; its lease runs out"]
