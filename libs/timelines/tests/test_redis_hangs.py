"""A Redis node that hangs: it is asked once, and then left alone until it answers; the others serve."""

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from select import select
from socket import create_server

import pytest

from murmuration_runtime import deadlines
from murmuration_runtime.errors import RedisAwayError
from murmuration_runtime.redis_nodes import Nodes
from murmuration_runtime.store_gate import PROBE_SECONDS
from murmuration_testkit.redis_nodes import redis_cluster, redis_node
from murmuration_testkit.waiting import eventually
from murmuration_timelines import layout
from murmuration_timelines.layout import BEGINNING
from murmuration_timelines.merge import Timeline
from murmuration_timelines.reader import TimelineReader
from murmuration_timelines.shown import Shown
from murmuration_timelines.tweets import Tweet
from murmuration_timelines.writer import TimelineWriter

from .conftest import snowflake

IMPATIENT_S = 0.5  # how long a test's client waits for a Redis that hangs
PATIENT_S = 6.0  # where it must not come to that
NOTICED_S = 2.0


@pytest.fixture
def node():
    with redis_node() as node:
        yield node


@pytest.fixture
def cache(node):
    """A reader that has a warm timeline, and has just read it."""
    with closing(Nodes(node.url, IMPATIENT_S, IMPATIENT_S)) as nodes:
        cache = TimelineReader(nodes)
        timeline = Timeline([snowflake(1)], BEGINNING, Shown.of(["ann"]))
        assert cache.home.commit("ann", cache.home.begin("ann"), timeline)
        yield cache


def read(cache):
    """Return whether it was answered, and after how many seconds."""
    began, answered = time.monotonic(), False
    with suppress(RedisAwayError):
        answered = bool(cache.home.load(["ann"]))
    return answered, time.monotonic() - began


def connections(node):
    return node.redis.info("stats")["total_connections_received"]


@pytest.mark.stack(shared=False)
def test_it_is_asked_once_and_then_left_alone(node, cache):
    """The first page waits for it, the next ones do not; a probe looks whether it is back."""
    before = connections(node)
    node.pause()
    answered, seconds = read(cache)
    assert not answered
    assert seconds < 3 * IMPATIENT_S
    began = time.monotonic()
    assert not any(read(cache)[0] for _ in range(50))
    assert time.monotonic() - began < 10 * IMPATIENT_S
    probes = 1 + (time.monotonic() - began + seconds) / PROBE_SECONDS
    node.resume()
    eventually(lambda: read(cache)[0], True, within=NOTICED_S)
    assert connections(node) - before <= probes + 2  # its connection was spoiled; the last probe may have begun since


@pytest.mark.stack(shared=False)
@pytest.mark.usefixtures("cache")
def test_a_request_waits_for_it_no_longer_than_its_deadline(node):
    """And what a short deadline cut off is not the node's fault."""
    with closing(Nodes(node.url, PATIENT_S, PATIENT_S)) as nodes:
        cache = TimelineReader(nodes)
        assert read(cache)[0]
        node.pause()
        for _ in range(3):  # on the connection that there is, and on new ones
            with deadlines.within(0.05):
                answered, seconds = read(cache)
            assert not answered
            assert 0.04 < seconds < PATIENT_S / 2
        node.resume()
        assert read(cache)[0]


@pytest.mark.stack(shared=False)
def test_a_restart_that_nobody_noticed_costs_no_page(node, cache):
    """A connection that died while it lay idle is replaced, and the call made again."""
    node.kill()
    node.start()
    timeline = Timeline([snowflake(1)], BEGINNING, Shown.of(["ann"]))
    assert cache.home.commit("ann", cache.home.begin("ann"), timeline)
    assert read(cache)[0]


@pytest.mark.stack(shared=False)
def test_what_the_healthy_masters_have_is_used():
    """One of three hangs: two thirds of the bodies are there."""
    with redis_cluster() as cluster, closing(Nodes(cluster.url, IMPATIENT_S, IMPATIENT_S)) as nodes:
        cache = TimelineReader(nodes)
        said = {snowflake(n): Tweet.written(snowflake(n), "bob", f"tweet {n}", n) for n in range(21)}
        _, rights = cache.bodies([*said])
        cache.fill(rights, said)
        hung = cluster.masters()[0]
        there = {i: body for i, body in said.items() if cluster.owner(layout.body(i)) is not hung}
        hung.pause()
        for seconds in (3 * IMPATIENT_S, IMPATIENT_S):
            began = time.monotonic()
            known, rights = cache.bodies([*said])
            assert time.monotonic() - began < seconds
            assert (known, rights) == (there, {})
        hung.resume()
        eventually(lambda: cache.bodies([*said])[0] == said, True, within=NOTICED_S)


@pytest.mark.stack(shared=False)
def test_a_master_that_hangs_is_asked_once_for_a_page_of_followers(somebody):
    """Never follower by follower after a timeout: one page took 16 s, and the healthy masters' followers waited."""
    users = [somebody() for _ in range(30)]
    with redis_cluster() as cluster, closing(Nodes(cluster.url, IMPATIENT_S, IMPATIENT_S)) as nodes:
        timelines, hung = TimelineWriter(nodes), cluster.owner(layout.home_timeline(users[0]))
        timelines.insert("1700000000000000001", users)
        before = connections(hung)
        hung.pause()
        with suppress(RedisAwayError):
            timelines.insert("1700000000000000002", users)
        hung.resume()
        hung.redis.ping()
        assert connections(hung) - before <= 1


def test_a_follow_of_many_goes_on_without_those_of_a_master_that_hangs(somebody):
    """They are named, so that the rest need not wait for them."""
    users = [somebody() for _ in range(30)]
    with redis_cluster() as cluster, closing(Nodes(cluster.url, IMPATIENT_S, IMPATIENT_S)) as nodes:
        timelines, hung = TimelineWriter(nodes), cluster.owner(layout.home_timeline(users[0]))
        theirs = {user for user in users if cluster.owner(layout.home_timeline(user)) is hung}
        timelines.note("bob", users)
        hung.pause()
        silent, unagreed = set(), set()
        assert timelines.note("bob", users, silent=silent) == {}
        assert timelines.agree("bob", dict.fromkeys(users, ""), users, [], silent=unagreed) == []
        hung.resume()
    assert silent == unagreed == theirs
    assert len(theirs) < len(users)


def test_nobody_waits_behind_another_who_connects():
    """The second call tries by itself, or gives up at once."""
    with ExitStack() as stack:
        threads = stack.enter_context(ThreadPoolExecutor(2))
        hanging = stack.enter_context(create_server(("127.0.0.1", 0)))
        url = f"redis://127.0.0.1:{hanging.getsockname()[1]}/0"
        home = TimelineReader(stack.enter_context(closing(Nodes(url, 10, 10)))).home
        hanging.settimeout(10)
        threads.submit(home.load, ["ann"])
        stack.enter_context(hanging.accept()[0])
        second = threads.submit(home.load, ["bob"])
        eventually(lambda: second.done() or select([hanging], [], [], 0)[0], within=5)
