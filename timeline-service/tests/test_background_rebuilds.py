"""A rebuild may outlive the request that began it."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from murmuration_runtime import deadlines
from murmuration_runtime.deadlines import DeadlineError
from murmuration_runtime.errors import RedisAwayError
from murmuration_testkit.no_threads import no_new_threads
from murmuration_timelines.layout import BEGINNING
from murmuration_timelines.merge import Timeline
from timeline_service.background_rebuilds import BackgroundRebuilds
from timeline_service.rebuild_slots import BusyError

BUILT = Timeline([], BEGINNING, frozenset({"ann"}))


class Slow:
    """What builds when it is told to."""

    def __init__(self):
        self.go_on, self.begun = threading.Event(), 0

    def __call__(self):
        self.begun += 1
        self.left = deadlines.current().until
        assert self.go_on.wait(30)
        return BUILT


def test_a_request_waits_as_long_as_it_may_and_a_later_one_finds_what_it_began():
    """It is not begun anew, however many ask; who came too early comes again."""
    rebuilds, slow = BackgroundRebuilds(), Slow()
    for _ in range(3):
        with deadlines.within(0.05), pytest.raises(DeadlineError, match="still being built"):
            rebuilds.build("ann", slow)
    with ThreadPoolExecutor(1) as threads:
        joined = threads.submit(rebuilds.build, "ann", slow)
        slow.go_on.set()
        assert joined.result(timeout=30) is BUILT
    assert slow.begun == 1


def test_its_deadline_is_its_own():
    """Not that of the request that began it, which is over."""
    rebuilds, slow = BackgroundRebuilds(), Slow()
    with deadlines.within(0.05) as request, pytest.raises(DeadlineError):
        rebuilds.build("ann", slow)
    assert slow.left > request.until + 10
    slow.go_on.set()


def test_what_went_wrong_is_told_to_who_waits_and_the_next_one_begins_anew():
    """An error is not kept."""
    rebuilds = BackgroundRebuilds()

    def fail():
        raise RedisAwayError("away")

    for _ in range(2):
        with pytest.raises(RedisAwayError):
            rebuilds.build("ann", fail)
    assert rebuilds.build("ann", lambda: BUILT) is BUILT


def test_without_a_thread_the_next_one_begins_anew():
    """A machine that was out of threads for a moment does not cost the timeline for ever."""
    rebuilds = BackgroundRebuilds()
    with no_new_threads(), pytest.raises(BusyError, match="no thread"):
        rebuilds.build("ann", lambda: BUILT)
    with deadlines.within(30):
        assert rebuilds.build("ann", lambda: BUILT) is BUILT


def test_no_end_of_the_process_waits_for_it():
    """A store that hangs would hold it up."""
    rebuilds, slow = BackgroundRebuilds(), Slow()
    with deadlines.within(0.05), pytest.raises(DeadlineError):
        rebuilds.build("ann", slow)
    rebuilding = [thread for thread in threading.enumerate() if thread.name == "rebuild"]
    assert rebuilding
    assert all(thread.daemon for thread in rebuilding)
    slow.go_on.set()
