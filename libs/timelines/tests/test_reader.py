"""What every cache promises: the same tests on the one in memory, on Redis, and on a cluster."""

import os
import uuid

import pytest

from murmuration_testkit.redis_nodes import redis_cluster
from timeline_service import layout
from timeline_service.cache import RedisCache, connect
from timeline_service.timeline import BEGINNING, CacheAwayError, Timeline

from .conftest import tweet

NAMES = {
    "home": (layout.home_timeline, layout.following),
    "authors": (layout.author_timeline, layout.author_following),
}


def ids(*places):
    return [tweet(n).tweet_id for n in places]


def timeline(user, *places, floor=BEGINNING):
    return Timeline(ids(*places), floor, frozenset({user}))


class CachePromises:
    """Subclassed by one class for each cache; arrive and cool are what fan-out does."""

    @pytest.fixture(params=NAMES)
    def kind(self, request):
        return request.param

    @pytest.fixture
    def timelines(self, cache, kind):
        return getattr(cache, kind)

    def test_what_was_committed_is_loaded(self, timelines, somebody):
        """Ids, floor and following come back as they went in."""
        user = somebody()
        assert timelines.load([user]) == {}
        built = Timeline(ids(3, 2, 1), BEGINNING, frozenset({user, "bob"}))
        assert timelines.commit(user, timelines.begin(user), built)
        assert timelines.load([user]) == {user: built}

    def test_a_full_timeline_keeps_its_floor(self, timelines, somebody):
        """Without the beginning of time in it, the last id is the floor."""
        user = somebody()
        built = timeline(user, 3, 2, floor=ids(2)[0])
        timelines.commit(user, timelines.begin(user), built)
        assert timelines.load([user]) == {user: built}

    def test_of_a_part_the_last_is_the_floor(self, timelines, somebody):
        """Below it the cache may know more; what it gave is complete down to there."""
        user = somebody()
        timelines.commit(user, timelines.begin(user), timeline(user, 3, 2, 1))
        assert timelines.load([user], 2) == {user: timeline(user, 3, 2, floor=ids(2)[0])}
        assert timelines.load([user], 4) == {user: timeline(user, 3, 2, 1)}

    def test_several_are_loaded_at_once(self, timelines, somebody):
        """Those that are cold are left out."""
        users = [somebody() for _ in range(8)]
        for user in users[1:]:
            timelines.commit(user, timelines.begin(user), timeline(user, 1))
        assert timelines.load(users) == {user: timeline(user, 1) for user in users[1:]}

    def test_an_empty_timeline_is_warm(self, timelines, somebody):
        """Nobody said anything yet: that is known, not cold."""
        user = somebody()
        timelines.commit(user, timelines.begin(user), timeline(user))
        assert timelines.load([user]) == {user: timeline(user)}

    def test_a_rebuild_in_progress_is_cold_and_belongs_to_one(self, timelines, somebody):
        """A second builder gets no token, and its guess at one changes nothing."""
        user = somebody()
        token = timelines.begin(user)
        assert timelines.load([user]) == {}
        assert timelines.begin(user) is None
        assert not timelines.commit(user, "another", timeline(user, 9))
        assert timelines.commit(user, token, timeline(user, 1))
        assert timelines.begin(user) is None

    def test_arrivals_during_a_rebuild_land_in_their_places(self, timelines, arrive, somebody):
        """Above, between and equal to what was built; below the floor the database serves."""
        user = somebody()
        token = timelines.begin(user)
        for n in (9, 4, 5, 1):
            arrive(user, tweet(n).tweet_id)
        timelines.commit(user, token, timeline(user, 7, 5, 3, floor=ids(3)[0]))
        assert timelines.load([user])[user].ids == ids(9, 7, 5, 4, 3)

    def test_a_follow_that_changes_makes_the_builder_look_again(self, timelines, change, arrive, somebody):
        """However often; before that there is nothing to commit, and after it nothing that arrived is lost."""
        user = somebody()
        token = timelines.begin(user)
        arrive(user, tweet(2).tweet_id)
        change(user)
        change(user)
        assert timelines.renew(user, token)
        assert not timelines.commit(user, token, timeline(user, 1))
        assert not timelines.renew(user, "another", look_again=True)
        assert timelines.begin(user) is None
        assert timelines.renew(user, token, look_again=True)
        assert timelines.commit(user, token, timeline(user, 1))
        assert timelines.load([user])[user].ids == ids(2, 1)

    def test_a_mark_that_is_gone_voids_the_rebuild(self, timelines, cool, somebody):
        """So is the right to commit."""
        user = somebody()
        token = timelines.begin(user)
        assert timelines.renew(user, token)
        cool(user)
        assert not timelines.renew(user, token)
        assert not timelines.commit(user, token, timeline(user, 1))
        assert timelines.load([user]) == {}

    def test_bodies_are_filled_once_and_stay_deleted(self, cache):
        """A tombstone is never filled again; of what is not known there is a right to fill it."""
        there, gone, other = (tweet(uuid.uuid4().int % 10**17) for _ in range(3))
        asked = [there.tweet_id, gone.tweet_id]
        _, rights = cache.bodies(asked)
        cache.fill(rights, {there.tweet_id: there})
        cache.fill(rights, {gone.tweet_id: gone, there.tweet_id: gone})
        known, rights = cache.bodies([*asked, other.tweet_id])
        assert known == {there.tweet_id: there, gone.tweet_id: None}
        assert rights.keys() == {other.tweet_id}


class TestMemoryCache(CachePromises):
    """In memory."""

    @pytest.fixture
    def arrive(self, timelines):
        return timelines.arrive

    @pytest.fixture
    def cool(self, timelines):
        return timelines.cool

    @pytest.fixture
    def change(self, timelines):
        return lambda user: timelines.agree(user, "bob", following=True, tweet_ids=[])


class RedisPromises(CachePromises):
    """What is Redis's own; subclassed by one class for each kind of Redis."""

    @pytest.fixture
    def nodes(self, url):
        nodes = connect(url)
        yield nodes
        nodes.close()

    @pytest.fixture
    def redis(self, nodes):
        return nodes.client

    @pytest.fixture
    def cache(self, nodes):
        return RedisCache(nodes)

    @pytest.fixture
    def keys(self, kind):
        return lambda user: [name(user) for name in NAMES[kind]]

    @pytest.fixture
    def arrive(self, redis, keys):
        def insert(user, tweet_id):
            """Keep the list descending above its last element, as fan-out's script does."""
            key, _ = keys(user)
            above = sorted({*redis.lrange(key, 0, -2), tweet_id}, reverse=True)
            mark = redis.lindex(key, -1)
            redis.delete(key)
            redis.rpush(key, *above, mark)

        return insert

    @pytest.fixture
    def cool(self, redis, keys):
        return lambda user: redis.delete(keys(user)[0])

    @pytest.fixture
    def change(self, redis, keys):
        """As fan-out's script does."""
        return lambda user: redis.lset(keys(user)[0], -1, redis.lindex(keys(user)[0], -1) + "~")

    def test_a_builder_that_died_is_forgotten(self, timelines, redis, keys, somebody):
        """Its mark expires within seconds; a read does not keep it alive, its builder does."""
        user = somebody()
        token = timelines.begin(user)
        redis.expire(keys(user)[0], 5)
        timelines.load([user])
        assert 0 < redis.ttl(keys(user)[0]) <= 5
        timelines.renew(user, token)
        assert 5 < redis.ttl(keys(user)[0]) <= layout.REBUILD_SECONDS

    def test_a_read_renews_the_expiry(self, timelines, redis, keys, somebody):
        """Whoever reads stays warm."""
        user = somebody()
        timelines.commit(user, timelines.begin(user), timeline(user, 1))
        for key in keys(user):
            redis.expire(key, 2 * 86_400)
        timelines.load([user])
        assert all(redis.ttl(key) > 6 * 86_400 for key in keys(user))

    @pytest.mark.parametrize("evicted", [0, 1])
    def test_one_key_without_the_other_is_cold(self, timelines, redis, keys, somebody, evicted):
        """Redis may evict either; the rebuild makes both."""
        user = somebody()
        timelines.commit(user, timelines.begin(user), timeline(user, 1))
        redis.delete(keys(user)[evicted])
        assert timelines.load([user]) == {}
        assert timelines.commit(user, timelines.begin(user), timeline(user, 2))
        assert timelines.load([user]) == {user: timeline(user, 2)}

    def test_thousands_of_followees_fit(self, timelines, somebody):
        """More arguments than Lua unpacks at once."""
        user = somebody()
        built = Timeline(ids(*range(800, 0, -1)), ids(1)[0], frozenset(f"f-{n}" for n in range(5_000)))
        timelines.commit(user, timelines.begin(user), built)
        assert timelines.load([user]) == {user: built}

    def test_recent_tweets_of_several_authors(self, cache, redis, somebody):
        """What fan-out remembered of each."""
        authors = [somebody(), somebody(), somebody()]
        for n, author in enumerate(authors[:2]):
            redis.zadd(layout.recent(author), {tweet(n).tweet_id: 0})
        assert sorted(cache.recent(authors)) == sorted(ids(0, 1))

    def test_what_is_built_in_the_first_seconds_of_a_history_is_provisional(self, nodes, somebody, redis):
        """Recent tweets may have been lost with the old one and not be in the index yet; no read prolongs that."""
        now, user = 1000.0, somebody()
        cache = RedisCache(nodes, clock=lambda: now)
        cache.recent([user])
        provisional = layout.PROVISIONAL_SECONDS // 2, layout.PROVISIONAL_SECONDS
        for least, most in (provisional, (layout.TIMELINE_SECONDS, layout.TIMELINE_SECONDS)):
            redis.delete(layout.home_timeline(user))
            cache.home.commit(user, cache.home.begin(user), timeline(user, 1))
            cache.home.load([user])
            assert least - 5 < redis.ttl(layout.home_timeline(user)) <= most
            now += layout.SETTLING_SECONDS


@pytest.mark.stack
class TestRedisCache(RedisPromises):
    """On the stack's Redis."""

    @pytest.fixture
    def url(self):
        return os.environ["REDIS_URL"]


@pytest.mark.stack
class TestRedisClusterCache(RedisPromises):
    """On three masters."""

    @pytest.fixture
    def url(self, cluster):
        return cluster.url


@pytest.fixture(scope="module")
def cluster():
    with redis_cluster() as cluster:
        yield cluster


def test_a_redis_that_is_away_is_named():
    """The reader goes to the database instead."""
    with pytest.raises(CacheAwayError, match="127"):
        RedisCache(connect("redis://127.0.0.1:9")).home.load(["alice"])
