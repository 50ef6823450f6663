"""What is refreshed beside the work goes on, whatever a call meets."""

import threading
from contextlib import suppress

from murmuration_runtime.errors import StoreAwayError
from murmuration_runtime.periodic import keep_calling, repeated


def test_a_call_that_fails_is_told_and_followed_by_the_next(caplog):
    """Old answers serve meanwhile."""
    failures = iter([StoreAwayError("no route"), KeyError("a bug")])
    came_again = threading.Event()

    def call():
        for failure in failures:
            raise failure
        came_again.set()
        threading.Event().wait()

    keep_calling("gaps", call, every=0.01)
    assert came_again.wait(10)
    assert [(record.levelname, record.what) for record in caplog.records] == [("WARNING", "gaps"), ("ERROR", "gaps")]


def test_what_is_repeated_ends_with_its_context(caplog):
    """However it ends, and whatever the calls met."""
    calls, came = threading.Semaphore(0), []

    def call():
        came.append(threading.current_thread())
        calls.release()
        raise StoreAwayError("no route")

    with suppress(KeyError), repeated("marker", call, every=0.01):
        assert calls.acquire(timeout=10)
        assert calls.acquire(timeout=10)
        raise KeyError
    came[0].join(10)
    assert not came[0].is_alive()
    assert {*came} == {came[0]}
    assert {record.what for record in caplog.records} == {"marker"}
