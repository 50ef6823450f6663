"""Events that vanished are told, and made up for before anything behind them is handled."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from murmuration_runtime.errors import StoreAwayError
from murmuration_testkit.waiting import eventually
from murmuration_worker.gaps import COVERED_SECONDS, Gaps
from murmuration_worker.metrics import GAPS
from murmuration_worker.progress import Progress

HERE, THERE = ("TweetCreated", 7), ("FollowChanged", 3)


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def test_a_gap_is_a_line_and_a_metric_whoever_makes_up_for_it(caplog):
    """count-aggregator's handler sees the offsets itself."""
    before = GAPS.labels("TweetCreated")._value.get()  # noqa: SLF001
    Gaps(Progress(), None).vanished(HERE, range(100, 500))
    assert GAPS.labels("TweetCreated")._value.get() == before + 1  # noqa: SLF001
    (line,) = caplog.records
    assert (line.topic, line.partition, line.reason) == ("TweetCreated", 7, "offsets 100 to 499")


def test_it_is_made_up_for_however_long_that_takes():
    """A store that is away is waited for."""
    answers, slept = iter([StoreAwayError("away"), StoreAwayError("away"), None]), []

    def rebuild():
        if error := next(answers):
            raise error

    Gaps(Progress(sleep=slept.append), rebuild).vanished(HERE, range(1))
    assert next(answers, "all asked") == "all asked"
    assert len(slept) == 2


def test_what_makes_up_for_one_gap_does_for_all_that_are_found_with_it():
    """After a long absence each partition has one, and all is built anew once."""
    clock, done = Clock(), []
    gaps = Gaps(Progress(), lambda: done.append(clock.now), clock)
    for clock.now, partition in ((0.0, HERE), (60.0, THERE), (COVERED_SECONDS + 1, HERE)):
        gaps.vanished(partition, range(1))
    assert done == [0.0, COVERED_SECONDS + 1]


def test_who_finds_one_meanwhile_waits_for_it():
    """And is seen to: nothing stands still."""
    begun, free, progress, done = threading.Event(), threading.Event(), Progress(), []

    def rebuild():
        begun.set()
        assert free.wait(10)
        done.append(None)

    gaps = Gaps(progress, rebuild)

    def find(partition):
        with progress.busy_with(partition):
            gaps.vanished(partition, range(1))
            return len(done)

    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(find, HERE)
        assert begun.wait(10)
        second = threads.submit(find, THERE)
        eventually(lambda: THERE in progress.sights() and progress.sights()[THERE].heartbeats > 0)
        free.set()
        assert (first.result(), second.result()) == (1, 1)


def test_what_nobody_foresaw_comes_out():
    """It ends the process, and the next one finds the same gap."""
    with pytest.raises(ZeroDivisionError):
        Gaps(Progress(), lambda: 1 / 0).vanished(HERE, range(1))
