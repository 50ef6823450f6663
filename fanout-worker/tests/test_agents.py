"""Lanes: a message is acknowledged when it was handled, in its partition's order, whatever other partitions do."""

import threading

from fanout_worker import agents
from fanout_worker.agents import WAITING

from .stream import Stream, run


def test_one_partition_that_is_held_up_does_not_hold_up_the_others():
    """An author with many followers costs one lane; and nothing behind that tweet is acknowledged before it."""
    free = threading.Event()
    stream = Stream((0, 1), (0, 2), *((1, offset) for offset in range(20)))

    def handle(message):
        if message.partition == 0:
            assert free.wait(10)

    stream.when["acked", 20] = free.set
    run(stream, handle, until=22)
    assert stream.acked == [*((1, offset) for offset in range(20)), (0, 1), (0, 2)]


def test_what_is_taken_and_not_acknowledged_is_bounded():
    """A SIGTERM and a rebalance wait for it."""
    free, held = threading.Event(), []
    stream = Stream(*((0, offset) for offset in range(WAITING + 50)))
    stream.when["taken", WAITING + 1] = free.set  # that one waits for room
    stream.when["acked", 1] = lambda: held.append(stream.taken)
    run(stream, lambda _: free.wait(10), until=WAITING + 50)
    assert held == [WAITING + 1]
    assert [offset for _, offset in stream.acked] == list(range(WAITING + 50))


def test_a_message_that_fails_in_a_way_nobody_foresaw_ends_the_process_and_is_not_acknowledged(monkeypatch):
    """The next process reads it again."""
    codes = []

    class EndedError(Exception):
        pass

    def end(code):
        codes.append(code)
        raise EndedError

    monkeypatch.setattr(agents.os, "_exit", end)
    stream = Stream((0, 1), (1, 2))

    def handle(message):
        if message.partition == 0:
            raise ValueError("a bug")

    run(stream, handle, until=1)
    assert codes == [agents.EXIT_UNAPPLIED]
    assert stream.acked == [(1, 2)]
