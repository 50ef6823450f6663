"""Faults that are known: each test is a promise that does not hold yet, and leaves this list when it does."""

from contextlib import closing, suppress

import pytest

from fanout_worker.deliveries import Deliveries
from murmuration_runtime.errors import RedisAwayError
from murmuration_testkit.promises import StillBrokenError, promised
from murmuration_testkit.redis_nodes import redis_node
from murmuration_timelines import layout, reset_timelines
from murmuration_timelines.writer import TimelineWriter, connect

from .conftest import follow
from .memory import Memory

IMPATIENT_S = 0.3  # how long a test's client waits for a Redis that hangs
IDLE_S = 6 * 86_400  # a timeline lives for seven days after it was read
GROW_IDLE = "redis.call('RESTORE', KEYS[1], 86400000, redis.call('DUMP', KEYS[1]), 'REPLACE', 'IDLETIME', ARGV[1])"


@pytest.fixture
def node():
    with redis_node() as node:
        yield node


@pytest.fixture
def nodes(node):
    with closing(connect(node.url)) as nodes:
        yield nodes


@pytest.mark.stack
@pytest.mark.xfail(strict=True, raises=StillBrokenError, reason="issue 16: a paused worker's late write")
@pytest.mark.parametrize("followed", [True, False], ids=["unfollow", "follow"])
def test_e5_a_worker_that_was_paused_and_then_killed_leaves_nothing_wrong(node, nodes, followed):
    """Between its look at the edge and its write the edge changes, and another worker acknowledges that."""
    edge, tables, key = ("ann", "bob"), Memory(), layout.followees("ann")
    tables.edges = {edge} if followed else set()
    node.redis.rpush(layout.home_timeline("ann"), "0")
    node.redis.set(key, "!12345678 ann bob " if followed else "!12345678 ann ")

    class KilledError(Exception):
        pass

    def deliveries(writer):
        return Deliveries(writer(nodes), tables, tables, tables, 9, 20)

    class Paused(TimelineWriter):
        def _agree(self, *given):
            tables.edges ^= {edge}
            deliveries(TimelineWriter).refresh_followee(*edge)
            super()._agree(*given)
            raise KilledError

    with suppress(KilledError):
        deliveries(Paused).refresh_followee(*edge)
    with promised():
        assert ("bob" in node.redis.get(key).split()) == (edge in tables.edges)


@pytest.mark.stack
@pytest.mark.xfail(strict=True, raises=StillBrokenError, reason="issue 16: a Redis that refuses writes")
def test_e10_timelines_are_made_cold_on_a_redis_that_is_full(node, nodes):
    """That is when it is needed, and it frees memory."""
    node.redis.rpush(layout.home_timeline("ann"), "0")
    node.redis.config_set("maxmemory-policy", "noeviction")
    node.redis.config_set("maxmemory", 1)
    with promised(RedisAwayError):
        assert reset_timelines.of_user(nodes, "ann")["home_timeline"] == 1


@pytest.mark.xfail(strict=True, raises=StillBrokenError, reason="issue 16: a viral account stops everybody's unfollows")
def test_e14_what_an_account_said_is_read_once_for_many_new_followers():
    """800 ids are 15 ms of the database."""
    memory, fans = Memory(), [f"fan-{n}" for n in range(50)]
    for fan in fans:
        memory.edges.add((fan, "viral"))
        memory.warm(fan)
    memory.deliveries(100).deliver(follow(n, fan, "viral") for n, fan in enumerate(fans))
    assert all("viral" in memory.followees(fan) for fan in fans)
    with promised():
        assert memory.asked.count(("latest", "viral")) == 1


@pytest.mark.stack
@pytest.mark.xfail(strict=True, raises=StillBrokenError, reason="issue 16: what LRU takes first")
@pytest.mark.parametrize("evicted", [False, True], ids=["never read", "followees evicted"])
def test_e16_a_list_of_somebody_who_never_returns_is_not_kept_by_what_is_written_to_it(node, nodes, evicted):
    """It grows idle and is evicted before those that are read; without its followees it could not be read at all."""
    key = layout.home_timeline("ann")
    node.redis.rpush(key, "0")
    if not evicted:
        node.redis.set(layout.followees("ann"), "!12345678 ann ")
    node.redis.eval(GROW_IDLE, 1, key, IDLE_S)
    TimelineWriter(nodes).insert("1700000000000000001", ["ann"])
    with promised():
        assert not node.redis.exists(key) or node.redis.object("IDLETIME", key) >= IDLE_S
