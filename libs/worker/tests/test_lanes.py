"""Lanes: a message is acknowledged when it was handled, in its partition's order, whatever other partitions do."""

import asyncio
import threading

import pytest

from murmuration_worker import exits, lanes
from murmuration_worker.lanes import next_batch

from .stream import IN_HAND, Stream, run


@pytest.fixture
def exit_codes(monkeypatch):
    """Let an end of the process end only the lane that asked for it."""
    codes = []

    class EndedError(Exception):
        pass

    def end(code):
        codes.append(code)
        raise EndedError

    monkeypatch.setattr(lanes.os, "_exit", end)
    return codes


def test_one_partition_that_is_held_up_does_not_hold_up_the_others():
    """Nothing behind the message that takes long is acknowledged before it."""
    free = threading.Event()
    stream = Stream((0, 1), (0, 2), *((1, offset) for offset in range(20)))

    def handle(messages):
        if messages[0].partition == 0:
            assert free.wait(10)

    stream.when["acked", 20] = free.set
    run(stream, handle, until=22)
    assert stream.acked == [*((1, offset) for offset in range(20)), (0, 1), (0, 2)]


def test_what_is_taken_and_not_acknowledged_is_bounded():
    """A SIGTERM and a rebalance wait for it."""
    free, held = threading.Event(), []
    stream = Stream(*((0, offset) for offset in range(IN_HAND + 50)))
    stream.when["taken", IN_HAND + 1] = free.set  # that one waits for room
    stream.when["acked", 1] = lambda: held.append(stream.taken)
    run(stream, lambda _: free.wait(10), until=IN_HAND + 50)
    assert held == [IN_HAND + 1]
    assert [offset for _, offset in stream.acked] == list(range(IN_HAND + 50))


def test_what_came_meanwhile_is_the_next_batch():
    """Each batch in its order, and never more than was asked for."""
    free, batches = threading.Event(), []
    stream = Stream(*((0, offset) for offset in range(13)))
    stream.when["taken", 13] = free.set

    def handle(messages):
        batches.append([message.offset for message in messages])
        assert free.wait(10)

    run(stream, handle, until=13, batch=5)
    assert [offset for batch in batches for offset in batch] == list(range(13))
    assert max(map(len, batches)) == 5


def test_a_single_event_goes_at_once_and_a_backlog_goes_in_full_batches():
    """Nothing waits for company, and nothing is left behind or reordered."""

    async def taken(times, of):
        waiting = asyncio.Queue()
        for number in range(of):
            waiting.put_nowait(number)
        return [await asyncio.wait_for(next_batch(waiting, 500), 1) for _ in range(times)]

    assert asyncio.run(taken(1, of=1)) == [[0]]
    full, rest = asyncio.run(taken(2, of=503))
    assert len(full) == 500
    assert full + rest == list(range(503))


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
