"""A rebuild from a database that takes its time, on a real Redis."""

from contextlib import closing

import pytest

from murmuration_testkit.redis_nodes import redis_node
from murmuration_testkit.waiting import eventually
from murmuration_timelines import layout
from murmuration_timelines.reader import TimelineReader, connect
from timeline_service.authors import Authors
from timeline_service.builder import Builder
from timeline_service.rebuild_slots import RebuildSlots

from .memory import MemoryDatabase


@pytest.fixture
def node():
    with redis_node() as node:
        yield node


@pytest.fixture
def cache(node):
    with closing(connect(node.url)) as nodes:
        yield TimelineReader(nodes)


@pytest.mark.stack(shared=False)
@pytest.mark.parametrize(
    ("mark", "build"),
    [
        (layout.home_timeline("ann"), lambda builder: builder.home("ann")),
        (layout.author_timeline("f-1"), lambda builder: builder.authors(["f-1"])),
    ],
    ids=["home", "author"],
)
def test_a_rebuild_by_a_slow_database_reads_nothing_twice(node, cache, monkeypatch, mark, build):
    """A chunk of queries takes longer than a mark lives that nobody renews meanwhile."""
    monkeypatch.setattr(layout, "REBUILD_SECONDS", 1)
    asked = set()

    class Slow(MemoryDatabase):
        def ids(self, below, count):
            assert not asked & below.keys()
            asked.update(below)
            node.redis.pexpire(mark, 500)
            eventually(lambda: 0 <= node.redis.pttl(mark) <= 500, False)  # renewed, or gone
            return super().ids(below, count)

    database = Slow()
    database.follows = {("ann", f"f-{n}") for n in range(100)}
    build(Builder(cache, Authors(database, database), database, RebuildSlots(1, 0)))
    assert cache.home.load(["ann"]) or cache.authors.load(["f-1"])
