"""How many may build at once."""

import queue
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from murmuration_runtime import deadlines
from timeline_service.rebuild_slots import BusyError, RebuildSlots


def test_as_many_as_there_are_slots_come_in_and_the_next_is_turned_away():
    """A slot is free again once its holder is out, whatever happened inside."""
    slots = RebuildSlots(2, patience=0)
    with slots.one(), slots.one(), pytest.raises(BusyError), slots.one():
        pass
    with pytest.raises(ZeroDivisionError), slots.one(), slots.one():
        raise ZeroDivisionError
    with slots.one():
        assert slots.taken == 1
    with slots.one(), slots.one():
        pass


def test_nobody_waits_for_a_slot_longer_than_the_deadline():
    """However patient the slots are."""
    slots = RebuildSlots(1, patience=30)
    with slots.one(), deadlines.within(0.05):
        began = time.monotonic()
        with pytest.raises(BusyError), slots.one():
            pass
        assert time.monotonic() - began < 15


def test_who_waits_comes_in_when_a_slot_is_free_and_beyond_those_nobody_waits():
    """A few may wait a moment; more would only hold up the threads that serve others."""
    slots, outcomes = RebuildSlots(1, patience=30), queue.SimpleQueue()

    def build():
        try:
            with slots.one():
                outcomes.put("built")
        except BusyError:
            outcomes.put("busy")

    with ThreadPoolExecutor(2) as threads:
        with slots.one():
            threads.submit(build)
            threads.submit(build)
            assert outcomes.get(timeout=30) == "busy"  # one of the two; the other waits
            assert outcomes.empty()
        assert outcomes.get(timeout=30) == "built"
