"""What is refreshed beside the work goes on, whatever a call meets."""

import threading

from murmuration_runtime.errors import StoreAwayError
from murmuration_runtime.periodic import keep_calling


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
