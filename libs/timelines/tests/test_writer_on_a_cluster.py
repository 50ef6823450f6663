"""Redis Cluster under the worker's feet: slots move, masters die; what was inserted is there, or its list is cold."""

import itertools
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress

import pytest
from redis.crc import key_slot

from murmuration_runtime.errors import RedisAwayError
from murmuration_testkit.redis_nodes import redis_cluster
from murmuration_testkit.waiting import eventually
from murmuration_timelines import layout
from murmuration_timelines.writer import TimelineWriter, connect

from .conftest import history, snowflake

pytestmark = pytest.mark.stack(shared=False)


def slot_of(user):
    return key_slot(layout.home_timeline(user).encode())


def neighbours(user, count):
    """Other users whose keys have this user's slot."""
    others = (f"n-{n}" for n in itertools.count())
    return [user, *itertools.islice((other for other in others if slot_of(other) == slot_of(user)), count - 1)]


class World:
    """A cluster, a worker's timelines on it, and users whose timelines were built where their keys are."""

    def __init__(self, cluster):
        self.cluster = cluster
        self.nodes = connect(cluster.url)
        self.writer = TimelineWriter(self.nodes)

    def build(self, users):
        for user in users:
            home = self.home(user)
            home.rpush(layout.home_timeline(user), "0")
            home.set(layout.home_shown(user), f"!2:{history(home)};1;1;1 ")

    def home(self, user):
        return self.cluster.owner(layout.home_timeline(user)).redis

    def is_warm(self, user):
        """As a reader sees it."""
        home = self.home(user)
        return (home.get(layout.home_shown(user)) or "").startswith(f"!2:{history(home)};")

    def ids(self, user):
        return self.home(user).lrange(layout.home_timeline(user), 0, -1)

    def insert(self, n, users):
        """Try until it is done, as a delivery does; but a test must end."""
        deadline = time.monotonic() + 60
        while True:
            try:
                return self.writer.insert(snowflake(n), users)
            except RedisAwayError:
                if time.monotonic() > deadline:
                    raise


@pytest.fixture(scope="module")
def cluster():
    with redis_cluster(replicated=True) as cluster:
        yield cluster


@pytest.fixture
def world(cluster):
    world = World(cluster)
    yield world
    world.nodes.close()


def test_a_slot_in_the_middle_of_its_move_loses_nothing(world, somebody):
    """Half of its keys are here, half are there, and the call for the whole node is refused."""
    users = neighbours(somebody(), 6)
    world.build(users)
    source = world.cluster.owner(layout.home_timeline(users[0]))
    target = next(node for node in world.cluster.masters() if node is not source)
    bystander = somebody()
    world.build([bystander])
    world.insert(1, [*users, bystander])
    with world.cluster.moving(slot_of(users[0]), source, target, keys=6):
        world.insert(2, [*users, bystander])
    assert world.insert(3, [*users, bystander]) == 7
    for user in (*users, bystander):
        assert world.ids(user) == [snowflake(3), snowflake(2), snowflake(1), "0"]
    assert world.is_warm(bystander)
    assert not any(world.is_warm(user) for user in users)


def test_slots_move_and_a_master_dies_under_load(world, somebody):
    """Every list that counts as warm holds all that was inserted; every list descends; the untouched stay warm."""
    users = [somebody() for _ in range(200)]
    moved = neighbours(users[0], 10)
    users += moved[1:]
    world.build(users)
    over, numbers, done = threading.Event(), itertools.count(), []

    def write():
        while not over.is_set():
            n = next(numbers)
            world.insert(n, users)
            done.append(n)

    with ThreadPoolExecutor(3) as writers:
        jobs = [writers.submit(write) for _ in range(3)]
        try:
            source = world.cluster.owner(layout.home_timeline(users[0]))
            target, third = (node for node in world.cluster.masters() if node is not source)
            with world.cluster.moving(slot_of(users[0]), source, target, keys=7):
                eventually(lambda: len(done) > 20, True)
            world.cluster.fail_over(third)
            world.cluster.settle()
            after = len(done)
            eventually(lambda: len(done) > after + 20, True)
        finally:
            over.set()
        for job in jobs:
            job.result(timeout=30)
    expected = [*(snowflake(n) for n in sorted(done, reverse=True)), "0"]
    for user in users:
        ids = world.ids(user)
        assert all(int(above) > int(below) for above, below in itertools.pairwise(ids))
        if world.is_warm(user):
            assert ids == expected[: len(ids)]
            assert len(ids) >= min(len(expected), layout.CAP)
    cold = {user for user in users if not world.is_warm(user)}
    assert set(moved) <= cold
    assert 0 < len(cold - {*moved}) < len(users) / 2


def test_the_node_that_the_url_names_may_be_the_one_that_dies(somebody):
    """The others know who has its slots now, even to a client whose map of them has holes."""
    with redis_cluster(replicated=True) as cluster, closing(World(cluster).nodes) as nodes:
        writer, users = TimelineWriter(nodes), [somebody() for _ in range(20)]
        assert writer.insert(snowflake(1), users) == 0
        (named,) = (node for node in cluster.masters() if node.url == cluster.url)
        named.kill()
        for _ in range(200):  # more than a pool has connections: no failure may keep one
            with suppress(RedisAwayError):
                writer.insert(snowflake(2), users)
        cluster.settle()
        nodes.client.nodes_manager.slots_cache.clear()

        def inserted():
            with suppress(RedisAwayError):
                return writer.insert(snowflake(2), users)

        eventually(inserted, 0, within=10)
