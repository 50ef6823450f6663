"""Who waits out throttling, and for how long."""

import time
from threading import Barrier, Thread

import pytest

from murmuration_runtime import deadlines
from murmuration_runtime.throttled_writes import AT_ONCE, PAUSE_SECONDS, TRIES, wait_out


class ThrottledError(Exception):
    pass


class Busy:
    """A store that throttles so many writes, and then does one."""

    def __init__(self, times):
        self.times, self.asked, self.slept = times, 0, []

    def write(self):
        self.asked += 1
        if self.asked <= self.times:
            raise ThrottledError
        return "written"

    def ask(self):
        return wait_out(self.write, lambda error: isinstance(error, ThrottledError), self.slept.append)


def test_a_write_waits_longer_each_time():
    busy = Busy(3)
    assert busy.ask() == "written"
    limits = [PAUSE_SECONDS, 2 * PAUSE_SECONDS, 4 * PAUSE_SECONDS]
    assert all(limit / 2 <= slept <= limit for slept, limit in zip(busy.slept, limits, strict=True))


def test_what_is_throttled_for_ever_is_given_up():
    busy = Busy(99)
    with pytest.raises(ThrottledError):
        busy.ask()
    assert busy.asked == TRIES


def test_nobody_waits_longer_than_their_request_may_take():
    """The pause that would be too long is not begun."""
    busy = Busy(99)
    with deadlines.within(PAUSE_SECONDS / 4), pytest.raises(ThrottledError):
        busy.ask()
    assert (busy.asked, busy.slept) == (1, [])


def test_another_error_is_not_waited_out():
    with pytest.raises(ZeroDivisionError):
        wait_out(lambda: 1 // 0, lambda error: isinstance(error, ThrottledError))


def test_few_wait_at_once_and_others_are_told_at_once():
    """When the first are through, the next may wait."""
    inside, over = Barrier(AT_ONCE + 1), Barrier(AT_ONCE + 1)

    def sleep(_):
        inside.wait()
        over.wait()

    waiting = [
        Thread(target=wait_out, args=(Busy(1).write, lambda error: isinstance(error, ThrottledError), sleep))
        for _ in range(AT_ONCE)
    ]
    for each in waiting:
        each.start()
    inside.wait()
    turned_away, began = Busy(1), time.monotonic()
    with pytest.raises(ThrottledError):
        turned_away.ask()
    assert time.monotonic() - began < PAUSE_SECONDS * 2**TRIES
    over.wait()
    for each in waiting:
        each.join()
    assert Busy(1).ask() == "written"
