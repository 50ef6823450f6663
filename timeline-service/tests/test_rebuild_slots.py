"""How many may build at once."""

import threading

import pytest

from murmuration_testkit.waiting import eventually
from timeline_service.places import BusyError, Places


def test_as_many_as_there_are_places_come_in_and_the_next_is_turned_away():
    """A place is free again once its holder is out, whatever happened inside."""
    places = Places(2, patience=0)
    with places.one(), places.one(), pytest.raises(BusyError), places.one():
        pass
    with pytest.raises(ZeroDivisionError), places.one(), places.one():
        raise ZeroDivisionError
    with places.one(), places.one():
        pass


def test_who_waits_comes_in_when_a_place_is_free_and_beyond_those_nobody_waits():
    """A few may wait a moment; more would only hold up the threads that serve others."""
    places = Places(1, patience=30)
    came_in = threading.Event()

    def wait():
        with places.one():
            came_in.set()

    with places.one():
        waiting = threading.Thread(target=wait)
        waiting.start()
        eventually(lambda: places.waiting, 1)
        with pytest.raises(BusyError), places.one():
            pass
        assert not came_in.is_set()
    waiting.join(30)
    assert came_in.is_set()
