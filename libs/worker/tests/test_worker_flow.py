"""A whole worker on a real Kafka, when a partition has more than it has room for, waits for a store, or lost events."""

import signal

import pytest

from murmuration_testkit.waiting import eventually

pytestmark = pytest.mark.stack
MANY = 2_000  # far more than a partition has room for, and than Faust takes at once


def numbers(lines):
    return sorted(int(line.split("-")[1]) for line in lines)


@pytest.mark.parametrize("order", ["by key", "strictly"])
def test_a_partition_that_is_held_up_is_held_back_and_loses_nothing(kafka, start, order):
    """The others go on meanwhile; when it goes on, everything comes, once."""
    kafka.publish(*range(MANY))
    worker = start(f"hold {order}")
    side_by_side = numbers(worker.lines(19)) if order == "by key" else []
    assert side_by_side == [*range(1, len(side_by_side) + 1)]
    kafka.publish(*range(MANY, MANY + 100), partition=6)
    assert numbers(worker.lines(100)) == [*range(MANY, MANY + 100)]
    assert kafka.committed(worker.group) == 0
    worker.free()
    assert numbers([*worker.lines(MANY - len(side_by_side))]) == [0, *range(len(side_by_side) + 1, MANY)]
    eventually(lambda: kafka.committed(worker.group), MANY)


def test_a_sigterm_and_a_rebalance_wait_for_no_store(kafka, start):
    """What was tried in vain is Kafka's again."""
    kafka.publish(*range(MANY))
    first = start("wait")
    assert first.line() == "tried 0"
    second = start("wait")
    for partition in range(kafka.topic.partitions):
        kafka.publish(1, partition=partition)
    assert second.line().startswith("tried ")
    for worker in (first, second):
        worker.signal(signal.SIGTERM)
        code, log = worker.ended()
        assert code == 0, log
    assert kafka.committed(first.group) == 0


def test_what_kafka_gave_up_is_told_and_made_up_for_before_anything_behind_it(kafka, start):
    """Whether the worker was away or begins; and nothing is skipped."""
    kafka.publish(*range(20))
    kafka.give_up(before=10)
    worker = start()
    assert worker.lines(3) == ["rebuilt", "10 e-10", "11 e-11"]
    worker.signal(signal.SIGTERM)
    code, log = worker.ended()
    assert code == 0, log
    assert '"reason": "offsets 0 to 9"' in log
