"""Faults that are known: each test is a promise that does not hold yet, and leaves this list when it does."""

import threading
from contextlib import suppress

import pytest

from murmuration_testkit.promises import StillBrokenError, promised
from murmuration_worker.continuity import Continuity
from murmuration_worker.lanes import THREADS

from .stream import IN_HAND, Stream, run

SOON_S = 0.5  # how long a message waits for another one that should pass it


@pytest.mark.xfail(strict=True, raises=StillBrokenError, reason="issue 16: one slow partition stops its whole topic")
@pytest.mark.parametrize(("partitions", "messages"), [(1, IN_HAND + 1), (THREADS, 1)], ids=["one", "many"])
def test_e2_partitions_that_are_held_up_do_not_hold_up_the_next_one(partitions, messages):
    """However much waits in one of them, and however many they are."""
    held = [(partition, offset) for offset in range(messages) for partition in range(partitions)]
    free, passed = threading.Event(), []

    def handle(messages):
        if messages[0].partition == partitions:
            passed.append(not free.is_set())
            free.set()
        free.wait(SOON_S)
        free.set()

    run(Stream(*held, (partitions, 0)), handle, until=len(held) + 1)
    with promised():
        assert passed == [True]


@pytest.mark.xfail(strict=True, raises=StillBrokenError, reason="issue 16: a viral account stops everybody's unfollows")
def test_e14_messages_of_one_partition_are_handled_side_by_side():
    """All follows of an account that goes viral lie in one partition."""
    both, met = threading.Barrier(2), []

    def handle(messages):
        with suppress(threading.BrokenBarrierError):
            both.wait(SOON_S)
            met.append(messages[0].offset)

    run(Stream((0, 1), (0, 2)), handle, until=2)
    with promised():
        assert sorted(met) == [1, 2]


@pytest.mark.xfail(strict=True, raises=StillBrokenError, reason="issue 16: events that retention took unread")
def test_e15_events_that_kafka_gave_up_before_they_were_read_are_told(caplog):
    """The group stands at 100, and what Kafka still has begins at 500."""
    place = "TweetCreated", 7
    Continuity(lambda: {place: 100}, lambda _: 500).check(place, [500])
    with promised():
        assert caplog.records
