"""Lanes: a message is acknowledged when it was handled, in its partition's order, whatever other partitions do."""

import threading

import pytest

from murmuration_worker import exits, partition_lane

from .stream import PARTITIONS, Stream, by_key, run, strictly


@pytest.fixture
def exit_codes(monkeypatch):
    """Let an end of the process end only the lane that asked for it."""
    codes = []

    class EndedError(Exception):
        pass

    def end(code):
        codes.append(code)
        raise EndedError

    monkeypatch.setattr(partition_lane.os, "_exit", end)
    return codes


ORDERS = pytest.mark.parametrize("order", [strictly(), by_key(at_once=2)], ids=["strictly", "by key"])


@ORDERS
def test_partitions_that_are_held_up_do_not_hold_up_the_last_one(order):
    """All but one are, and each has more waiting than it has room for."""
    free, held = threading.Event(), [(n, offset, offset) for offset in range(150) for n in range(PARTITIONS - 1)]
    stream = Stream(*held, *((PARTITIONS - 1, offset, 0) for offset in range(20)))

    def handle(messages):
        if messages[0].partition < PARTITIONS - 1:
            assert free.wait(10)

    stream.when["acked", 20] = free.set
    run(stream, handle, until=len(held) + 20, order=order)
    assert stream.acked[:20] == [(PARTITIONS - 1, offset) for offset in range(20)]
    for partition in range(PARTITIONS):
        acked = [offset for each, offset in stream.acked if each == partition]
        assert acked == sorted(acked)


def test_messages_of_different_keys_are_handled_side_by_side():
    """A tweet to many followers holds up nobody else's."""
    both = threading.Barrier(2, timeout=10)
    run(Stream((0, 1, b"a"), (0, 2, b"b")), lambda _: both.wait() and None, until=2, order=by_key())


def test_messages_of_one_key_are_handled_together_and_in_order():
    """All follows of an account that goes viral have one key."""
    stream, batches = Stream((0, 0, b"a"), *((0, n, b"b") for n in range(1, 5)), (0, 5, b"a")), []
    run(stream, lambda messages: batches.append([each.offset for each in messages]), until=6, order=by_key(batch=3))
    of_b = [batch for batch in batches if batch[0] in range(1, 5)]
    assert [offset for batch in of_b for offset in batch] == [1, 2, 3, 4]
    assert [batch for batch in batches if batch not in of_b] in ([[0], [5]], [[0, 5]])


def test_a_partition_without_room_is_held_back_until_half_of_it_is_free():
    """At the consumer; the others go on."""
    free, stream = threading.Event(), Stream(*((0, offset) for offset in range(30)))
    stream.when["taken", 30] = free.set
    stream.when["acked", 24] = lambda: stream.held.append("24 acknowledged")
    run(stream, lambda _: free.wait(10), until=30, order=strictly(room=10))
    assert stream.held == [("hold", 0), "24 acknowledged", ("release", 0)]


@ORDERS
def test_what_failed_is_tried_again_until_it_succeeds(order):
    """In the order of the partition nothing passes it; by key only its own key waits."""
    stream, tries = Stream((0, 0, b"a"), (0, 1, b"b"), (0, 2, b"a")), []

    def handle(messages):
        tries.append(messages[0].offset)
        return tries.count(0) == 3 or messages[0].offset != 0

    run(stream, handle, until=3, order=order)
    assert stream.acked == [(0, 0), (0, 1), (0, 2)]
    assert tries == ([0, 0, 0, 1, 2] if order.at_once == 1 else [*tries[:2], 0, 0, 2])
    assert sorted(tries[:2]) == ([0, 0] if order.at_once == 1 else [0, 1])


def test_a_rebalance_and_a_stop_wait_for_the_tries_under_way_alone():
    """What waits and what failed is Kafka's again; what is done behind it is not acknowledged, and comes once more."""
    free, acked, stream = threading.Event(), threading.Event(), Stream(*((0, offset, offset) for offset in range(6)))
    stream.when["acked", 1] = acked.set

    def handle(messages):
        match messages[0].offset:
            case 0:
                return free.wait(10)
            case 2:
                stream.clear()
                free.set()
                return acked.wait(10)
        return False

    run(stream, handle, until=("forgotten", (0, 2)), order=by_key(at_once=2))
    assert stream.acked == [(0, 0)]
    assert {*stream.forgotten} - {(0, 0)} == {(0, offset) for offset in range(1, 6)}


def test_a_message_that_was_skipped_ends_the_process_before_anything_behind_it_is_handled(exit_codes):
    """To acknowledge that would acknowledge the one before."""
    handled, stream = [], Stream((0, 7), (0, 8), (0, 9), (1, 0))
    stream.skipped.add((0, 8))
    run(stream, lambda messages: handled.append(messages[0].offset), until=2)
    assert (exit_codes, sorted(handled)) == ([exits.UNFORESEEN], [0, 7])


def test_a_message_that_fails_in_a_way_nobody_foresaw_ends_the_process_and_is_not_acknowledged(exit_codes):
    """The next process reads it again."""
    stream = Stream((0, 1), (1, 2))

    def handle(messages):
        if messages[0].partition == 0:
            raise ValueError("a bug")

    run(stream, handle, until=1)
    assert exit_codes == [exits.UNFORESEEN]
    assert stream.acked == [(1, 2)]


def test_an_acknowledgement_that_fails_ends_the_process_too(exit_codes):
    """A lane that ended in an exception would be silence."""
    stream = Stream((0, 1), (1, 2))

    def refuse():
        raise ConnectionError

    stream.when["acked", 1] = refuse
    run(stream, lambda _: None, until=2)
    assert exit_codes == [exits.UNFORESEEN]


@pytest.mark.parametrize(("timestamp", "written_ms"), [(1.5, 1500), (None, 0)])
def test_a_message_has_kafkas_time_or_is_as_old_as_can_be(timestamp, written_ms):
    """Whoever counts must know how old it is."""
    stream, came = Stream((0, 1)), []
    stream.timestamp = timestamp
    run(stream, lambda messages: came.extend(message.written_ms for message in messages), until=1)
    assert came == [written_ms]
