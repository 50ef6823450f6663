"""One thing at a time, for which nobody waits."""

import threading

import pytest

from murmuration_runtime import deadlines
from murmuration_runtime.errors import RedisAwayError
from murmuration_testkit.no_threads import no_new_threads
from murmuration_testkit.waiting import eventually
from timeline_service.background_work import SECONDS, BackgroundWork


@pytest.fixture
def work():
    return BackgroundWork("not done")


def test_one_thing_is_done_at_a_time_with_a_deadline_of_its_own(work):
    """However many come meanwhile, and however little time their requests have left."""
    may_end, left = threading.Event(), []

    def wait():
        left.append(deadlines.remaining(60))
        may_end.wait(30)

    with deadlines.within(0.5):
        assert work.begin(wait)
    eventually(lambda: left)
    assert 10 < left[0] <= SECONDS
    assert not work.begin(wait)
    may_end.set()
    eventually(lambda: work.begin(wait), True)
    eventually(lambda: len(left), 2)


@pytest.mark.parametrize("error", [RedisAwayError("away"), KeyError("a mistake of ours")])
def test_what_fails_is_logged_and_the_next_thing_is_begun(error, caplog):
    work, done = BackgroundWork("not done", lambda work: work()), []

    def fail():
        raise error

    assert work.begin(fail)
    assert "not done" in caplog.text
    assert work.begin(lambda: done.append(1))
    assert done


def test_without_a_thread_nothing_is_begun_and_a_later_try_does_it(work):
    """A machine that was out of threads for a moment does not end it for good."""
    done = threading.Event()
    with no_new_threads():
        assert not work.begin(done.set)
    assert work.begin(done.set)
    assert done.wait(30)
