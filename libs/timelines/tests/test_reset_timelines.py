"""Made cold: one user, everybody, one node; tombstones stay."""

import random
from contextlib import closing

import pytest

from murmuration_runtime.errors import RedisAwayError
from murmuration_testkit.redis_nodes import redis_cluster
from murmuration_timelines import layout, reset_timelines
from murmuration_timelines.reset_timelines import AT_ONCE, OF_A_USER, NoSuchNodeError
from murmuration_timelines.writer import connect


@pytest.fixture
def kind():
    return "single"


def warm(redis, user):
    for name in (layout.home_timeline, layout.author_timeline):
        redis.rpush(name(user), "0")
    for name in {*OF_A_USER} - {layout.home_timeline, layout.author_timeline}:
        redis.set(name(user), "!12345678 ")


def there(redis, user):
    return sum(redis.exists(name(user)) for name in OF_A_USER)


@pytest.mark.stack
def test_one_user_is_made_cold_and_nobody_else(nodes, redis, somebody):
    """Their home timeline, and their own tweets."""
    one, other = somebody(), somebody()
    warm(redis, one)
    warm(redis, other)
    assert sum(reset_timelines.of_user(nodes, one).values()) == len(OF_A_USER)
    assert (there(redis, one), there(redis, other)) == (0, len(OF_A_USER))
    assert sum(reset_timelines.of_user(nodes, one).values()) == 0


@pytest.mark.stack
def test_everybody_is_made_cold_and_what_is_deleted_stays_deleted(nodes, redis, somebody):
    """More keys than one scan's page; bodies go, tombstones and what is no timeline stay."""
    users = [somebody() for _ in range(AT_ONCE)]
    for user in users:
        warm(redis, user)
    body, tombstone = (layout.body(str(random.randrange(10**18, 8 * 10**18))) for _ in range(2))
    redis.set(body, "hello")
    redis.set(tombstone, "", ex=100)
    redis.zadd(layout.recent(users[0]), {"1": 0})
    done = reset_timelines.of_everybody(nodes)
    assert min(done[name.__name__] for name in OF_A_USER) >= len(users)
    assert done["body"] >= 1
    assert not any(there(redis, user) for user in users)
    assert (redis.exists(body), redis.exists(tombstone), redis.exists(layout.recent(users[0]))) == (0, 1, 1)


@pytest.mark.stack
def test_a_node_that_is_none_is_named_with_what_to_do(nodes):
    """A single node has no masters to choose among."""
    with pytest.raises(NoSuchNodeError, match=r"10\.0\.0\.9:6379 is no master.*use --all"):
        reset_timelines.of_everybody(nodes, "10.0.0.9:6379")


@pytest.mark.stack(shared=False)
def test_on_a_cluster_every_master_is_made_cold_or_the_one_that_is_named(somebody):
    """Keys with their slots on three nodes, from whichever of them the command was told."""
    with redis_cluster() as cluster, closing(connect(cluster.url)) as nodes:
        users = [somebody() for _ in range(60)]
        tombstone, body = layout.body("1"), layout.body("2")

        def left():
            return {user: there(nodes.client, user) for user in users if there(nodes.client, user)}

        for user in users:
            warm(nodes.client, user)
        nodes.client.set(tombstone, "")
        nodes.client.set(body, "hello")
        owners = {user: cluster.owner(layout.home_timeline(user)) for user in users}
        master = owners[users[0]]
        mine = {user for user in users if owners[user] is master}
        assert 0 < len(mine) < len(users)
        assert reset_timelines.of_everybody(nodes, f"127.0.0.1:{master.port}")["home_timeline"] == len(mine)
        assert left() == dict.fromkeys(set(users) - mine, len(OF_A_USER))
        assert reset_timelines.of_everybody(nodes)["home_timeline"] == len(users) - len(mine)
        assert left() == {}
        assert (nodes.client.exists(tombstone), nodes.client.exists(body)) == (1, 0)
        masters = ", ".join(sorted(f"127.0.0.1:{node.port}" for node in cluster.masters()))
        with pytest.raises(NoSuchNodeError, match=f"masters are {masters}"):
            reset_timelines.of_everybody(nodes, "127.0.0.1:9")


def test_a_redis_that_is_away_is_named():
    """Nothing was promised, nothing is lost: run it again."""
    with closing(connect("redis://127.0.0.1:9")) as nodes, pytest.raises(RedisAwayError, match="127"):
        reset_timelines.of_everybody(nodes)
