"""What Redis forgot never shows: it began anew from an old snapshot, or a replica that lagged was promoted."""

import uuid
from contextlib import closing, contextmanager

import pytest

from murmuration_testkit.redis_nodes import redis_node
from murmuration_testkit.waiting import eventually
from murmuration_timelines import layout
from murmuration_timelines.layout import BEGINNING
from murmuration_timelines.merge import Timeline
from murmuration_timelines.reader import TimelineReader
from murmuration_timelines.shown import Shown
from murmuration_timelines.tweets import Tweet
from murmuration_timelines.writer import TimelineWriter, connect

from .conftest import snowflake

pytestmark = pytest.mark.stack(shared=False)
NOWHERE = ("127.0.0.1", 9)


class Snapshot:
    """One node, that finds on its disk what it knew a while ago."""

    def __init__(self, node):
        self.node = node

    def lag(self):
        self.node.redis.save()

    def fail(self):
        self.node.kill()
        self.node.start()


class Promotion:
    """A node and its replica, which is promoted and does not know what the node did of late."""

    def __init__(self, node, replica):
        self.node = node
        self._replica = replica
        replica.redis.replicaof("127.0.0.1", node.port)
        eventually(lambda: replica.redis.info("replication")["master_link_status"], "up")

    def lag(self):
        written = self.node.redis.info("replication")["master_repl_offset"]
        eventually(lambda: self._replica.redis.info("replication")["slave_repl_offset"] >= written, True)
        self._replica.redis.replicaof(*NOWHERE)

    def fail(self):
        self.node.kill()
        self.node = self._replica
        self.node.redis.replicaof("NO", "ONE")


class Return(Promotion):
    """The same, but then the first node follows the second, is promoted again, and has forgotten that, too."""

    def fail(self):
        self._replica.redis.replicaof("NO", "ONE")
        self.node.redis.replicaof("127.0.0.1", self._replica.port)
        eventually(lambda: self.node.redis.info("replication")["master_link_status"], "up")
        self._replica.kill()
        self.node.redis.replicaof("NO", "ONE")


@contextmanager
def snapshot():
    with redis_node("--save", "3600 1") as node:
        yield Snapshot(node)


@contextmanager
def promotion():
    with redis_node() as node, redis_node() as replica:
        yield Promotion(node, replica)


@contextmanager
def way_back():
    with redis_node() as node, redis_node() as replica:
        yield Return(node, replica)


@pytest.fixture(scope="module", params=[snapshot, promotion, way_back], ids=lambda fault: fault.__name__)
def fault(request):
    return request.param


class World:
    """Readers on the node that is there, and the keys behind it."""

    def __init__(self, fault):
        self.fault = fault
        self._open = []

    @property
    def redis(self):
        return self.fault.node.redis

    def connect(self):
        self._open.append(connect(self.fault.node.url))
        return self._open[-1]

    def reader(self):
        return TimelineReader(self.connect())

    def close(self):
        for nodes in self._open:
            nodes.close()


@pytest.fixture
def world(fault):
    with fault() as it:
        world = World(it)
        yield world
        world.close()


def ids(*places):
    return [snowflake(n) for n in places]


def tweet(n):
    return Tweet.written(snowflake(n), "bob", f"tweet {n}", n)


def built(user, *places, others=()):
    return Timeline(ids(*places), BEGINNING, Shown.of([user, *others]))


def test_a_list_with_a_hole_is_cold(world, somebody):
    """Its newest was forgotten, newer ones came, and nobody can tell from the list."""
    user, reader = somebody(), world.reader()
    key = layout.home_timeline(user)
    reader.home.commit(user, reader.home.begin(user), built(user, 1))
    world.fault.lag()
    world.redis.lpush(key, *ids(2))
    world.fault.fail()
    world.redis.lpush(key, *ids(3))
    assert world.redis.lrange(key, 0, -1) == [*ids(3, 1), BEGINNING]
    reader = world.reader()
    assert reader.home.load([user]) == {}
    reader.home.commit(user, reader.home.begin(user), built(user, 3, 2, 1))
    assert reader.home.load([user]) == {user: built(user, 3, 2, 1)}


def test_a_forgotten_unfollow_does_not_bring_back_whom_one_left(world, somebody):
    """Whom it showed is there again; that does not count."""
    user, reader = somebody(), world.reader()
    reader.home.commit(user, reader.home.begin(user), built(user, 1, others=["bob"]))
    before = world.redis.strlen(layout.home_shown(user))
    world.fault.lag()
    writer = TimelineWriter(world.connect())
    writer.agree("bob", writer.note("bob", [user]), [], [])
    assert world.redis.strlen(layout.home_shown(user)) < before
    world.fault.fail()
    assert world.redis.strlen(layout.home_shown(user)) == before
    assert world.reader().home.load([user]) == {}


def test_a_rebuild_does_not_outlive_what_voided_it(world, somebody):
    """A follow changed and removed the marker; the marker is back, and has no right to commit."""
    user, reader = somebody(), world.reader()
    key = layout.home_timeline(user)
    token = reader.home.begin(user)
    world.fault.lag()
    world.redis.delete(key)
    world.fault.fail()
    assert world.redis.exists(key)
    reader = world.reader()
    assert not reader.home.renew(user, token)
    assert not reader.home.commit(user, token, built(user, 1))
    assert reader.home.begin(user)


def test_a_forgotten_tombstone_does_not_bring_the_tweet_back(world):
    """Its body is there, and counts as unknown; the table is asked, and says that it is gone."""
    reader, said = world.reader(), tweet(uuid.uuid4().int % 10**17)
    reader.fill(reader.bodies([said.tweet_id])[1], {said.tweet_id: said})
    world.fault.lag()
    world.redis.set(layout.body(said.tweet_id), "")
    world.fault.fail()
    assert world.redis.get(layout.body(said.tweet_id))
    reader = world.reader()
    known, rights = reader.bodies([said.tweet_id])
    assert (known, rights.keys()) == ({}, {said.tweet_id})
    reader.fill(rights, {})
    assert reader.bodies([said.tweet_id]) == ({said.tweet_id: None}, {})


def test_a_body_read_before_a_delete_is_not_filled_when_the_tombstone_was_forgotten(world):
    """The right to fill it was given by a node that knows no more."""
    reader, said = world.reader(), tweet(uuid.uuid4().int % 10**17)
    _, rights = reader.bodies([said.tweet_id])
    world.fault.lag()
    world.redis.set(layout.body(said.tweet_id), "")
    world.fault.fail()
    reader = world.reader()
    reader.fill(rights, {said.tweet_id: said})
    assert reader.bodies([said.tweet_id])[0] == {}


def test_a_body_of_another_history_is_replaced_and_a_tombstone_never(world):
    """What the table says now is written over it."""
    reader = world.reader()
    there, gone = tweet(uuid.uuid4().int % 10**17), tweet(uuid.uuid4().int % 10**17)
    reader.fill(reader.bodies([there.tweet_id])[1], {there.tweet_id: there})
    world.redis.set(layout.body(gone.tweet_id), "")
    world.fault.lag()
    world.fault.fail()
    reader = world.reader()
    known, rights = reader.bodies([there.tweet_id, gone.tweet_id])
    assert (known, rights.keys()) == ({gone.tweet_id: None}, {there.tweet_id})
    reader.fill({**rights, gone.tweet_id: rights[there.tweet_id]}, {there.tweet_id: there, gone.tweet_id: gone})
    assert reader.bodies([there.tweet_id, gone.tweet_id]) == ({there.tweet_id: there, gone.tweet_id: None}, {})


def test_a_node_that_gets_its_first_replica_stays_warm(somebody):
    """Nothing was lost; Redis gives the node another replication id all the same."""
    user = somebody()
    with redis_node() as node, redis_node() as second, closing(connect(node.url)) as nodes:
        home = TimelineReader(nodes).home
        assert home.commit(user, home.begin(user), built(user, 1))
        before = node.redis.info("replication")["master_replid"]
        second.redis.replicaof("127.0.0.1", node.port)
        eventually(lambda: second.redis.info("replication")["master_link_status"], "up")
        assert node.redis.info("replication")["master_replid"] != before
        assert home.load([user]) == {user: built(user, 1)}


def test_a_node_whose_replica_has_long_been_away_stays_warm(somebody):
    """What takes an hour by default takes a second here; then it has another replication id, too."""
    user = somebody()
    with redis_node("--repl-backlog-ttl", "1") as node, closing(connect(node.url)) as nodes:
        with redis_node() as second:
            second.redis.replicaof("127.0.0.1", node.port)
            eventually(lambda: second.redis.info("replication")["master_link_status"], "up")
        home, before = TimelineReader(nodes).home, node.redis.info("replication")["master_replid"]
        assert home.commit(user, home.begin(user), built(user, 1))
        eventually(lambda: node.redis.info("replication")["master_replid"] != before)
        assert home.load([user]) == {user: built(user, 1)}


@pytest.mark.parametrize("options", [(), ("--appendonly", "yes", "--appendfsync", "always"), ("--save", "3600 1")])
def test_a_restart_is_cold_whatever_is_on_the_disk(somebody, options):
    """The same client goes on, and sees the new history at once."""
    user = somebody()
    with redis_node(*options) as node:
        nodes = connect(node.url)
        reader = TimelineReader(nodes)
        reader.home.commit(user, reader.home.begin(user), built(user, 1))
        if "--save" in options:
            node.redis.save()
        node.kill()
        node.start()
        assert bool(node.redis.exists(layout.home_timeline(user))) == bool(options)
        assert reader.home.load([user]) == {}
        reader.home.commit(user, reader.home.begin(user), built(user, 2))
        assert reader.home.load([user]) == {user: built(user, 2)}
        nodes.close()
