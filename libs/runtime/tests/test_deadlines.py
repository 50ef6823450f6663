"""One deadline for all that a request does."""

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from threading import Lock

import pytest

from murmuration_runtime import deadlines
from murmuration_runtime.deadlines import DeadlineError


def test_a_call_may_take_what_is_left_and_no_more_than_its_own_patience():
    """However long the calls before it took."""
    with deadlines.within(60):
        assert deadlines.remaining(1) == 1
        assert 59 < deadlines.remaining(100) <= 60
        assert deadlines.allows(59)
        assert not deadlines.allows(61)


def test_when_the_time_is_over_no_call_is_begun():
    """The caller hears 503 in time."""
    with deadlines.within(0), pytest.raises(DeadlineError):
        deadlines.remaining(1)


def test_where_nobody_set_a_deadline_there_is_none():
    """Workers and jobs have the patience of their clients; and a deadline is gone with its request."""
    with deadlines.within(0):
        pass
    assert deadlines.remaining(5) == 5
    assert deadlines.allows(10**9)


def test_a_deadline_of_ones_own_replaces_that_of_the_request():
    """What outlives a request has more time than it."""
    with deadlines.within(0):
        with deadlines.within(60):
            assert deadlines.remaining(5) == 5
        assert not deadlines.allows(0)


def test_a_thread_in_a_copy_of_the_context_has_the_deadline():
    """And one without it has none."""
    with ThreadPoolExecutor(1) as threads, deadlines.within(60):
        assert threads.submit(copy_context().run, deadlines.remaining, 100).result() <= 60
        assert threads.submit(deadlines.remaining, 100).result() == 100


def test_a_turn_says_whether_somebody_had_it_before_and_is_waited_for_within_the_deadline():
    """And the next one has it, whatever this one ended with."""
    lock = Lock()
    with deadlines.turn(lock, "divides") as waited:
        assert not waited
        with (
            deadlines.within(0.05),
            pytest.raises(DeadlineError, match="somebody else divides"),
            deadlines.turn(lock, "divides"),
        ):
            raise AssertionError("it was taken")
    with suppress(ZeroDivisionError), deadlines.turn(lock, "divides"):
        raise ZeroDivisionError
    assert lock.acquire(blocking=False)
    with ThreadPoolExecutor(1) as threads:
        threads.submit(lambda: time.sleep(0.05) or lock.release())
        with deadlines.turn(lock, "divides") as waited:
            assert waited
