"""Whether Redis lets a process do what it is for: a right that is missing is told at once, not by the first page."""

import pytest

from murmuration_runtime.errors import RedisRefusedError
from murmuration_timelines.edges import PARTITIONS
from murmuration_timelines.fake import FakeNodes
from murmuration_timelines.reader import TimelineReader
from murmuration_timelines.writer import TimelineWriter


def refusing(command):
    """A Redis that forbids one script, or command."""
    nodes = FakeNodes()

    def refuse(name, _keys):
        if name == command:
            raise RedisRefusedError(f"NOPERM {command}")

    nodes.before = refuse
    return nodes


@pytest.mark.parametrize("command", ["load", "smembers", "hgetall", "get", "llen"])
def test_a_reader_of_pages_needs_every_right_that_pages_use(command):
    """An audit, which reads timelines alone, needs but two."""
    TimelineReader(FakeNodes()).check_pages()
    reader = TimelineReader(refusing(command))
    with pytest.raises(RedisRefusedError, match=command):
        reader.check_pages()
    if command not in ("load", "llen"):
        reader.check()


@pytest.mark.parametrize("command", ["insert", "settle"])
def test_a_writer_needs_the_right_to_say_until_when_edges_are_settled(command):
    """And to write a timeline."""
    with pytest.raises(RedisRefusedError, match=command):
        TimelineWriter(refusing(command)).check()


def test_a_check_says_nothing_about_edges():
    """Neither where nothing is known, nor where something is."""
    nodes = FakeNodes()
    writer, reader = TimelineWriter(nodes), TimelineReader(nodes)
    writer.check()
    assert reader.edges_settled() == 0
    writer.settle(dict.fromkeys(PARTITIONS, 9))
    writer.check()
    assert reader.edges_settled() == 9
