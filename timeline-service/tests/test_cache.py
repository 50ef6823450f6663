"""What every cache promises: the same tests on the one in memory and on Redis."""

import os
import uuid

import pytest

from timeline_service import layout
from timeline_service.cache import RedisCache, connect
from timeline_service.timeline import BEGINNING, CacheAwayError, Timeline

from .conftest import tweet


def ids(*places):
    return [tweet(n).tweet_id for n in places]


class CachePromises:
    """Subclassed by one class for each cache; arrive and cool are what fan-out does."""

    def test_what_was_committed_is_loaded(self, cache, somebody):
        """Ids, floor and following come back as they went in."""
        user = somebody()
        assert cache.load(user) is None
        built = Timeline(ids(3, 2, 1), BEGINNING, frozenset({user, "bob"}))
        assert cache.commit(user, cache.begin(user), built)
        assert cache.load(user) == built

    def test_a_full_timeline_keeps_its_floor(self, cache, somebody):
        """Without the beginning of time in it, the last id is the floor."""
        user = somebody()
        built = Timeline(ids(3, 2), ids(2)[0], frozenset({user}))
        cache.commit(user, cache.begin(user), built)
        assert cache.load(user) == built

    def test_an_empty_timeline_is_warm(self, cache, somebody):
        """Nobody said anything yet: that is known, not cold."""
        user = somebody()
        cache.commit(user, cache.begin(user), Timeline([], BEGINNING, frozenset({user})))
        assert cache.load(user) == Timeline([], BEGINNING, frozenset({user}))

    def test_a_rebuild_in_progress_is_cold_and_belongs_to_one(self, cache, somebody):
        """A second builder gets no token, and its guess at one changes nothing."""
        user = somebody()
        token = cache.begin(user)
        assert cache.load(user) is None
        assert cache.begin(user) is None
        assert not cache.commit(user, "another", Timeline(ids(9), BEGINNING, frozenset({user})))
        assert cache.commit(user, token, Timeline(ids(1), BEGINNING, frozenset({user})))
        assert cache.begin(user) is None

    def test_arrivals_during_a_rebuild_land_in_their_places(self, cache, arrive, somebody):
        """Above, between and equal to what was built; below the floor the database serves."""
        user = somebody()
        token = cache.begin(user)
        for n in (9, 4, 5, 1):
            arrive(user, tweet(n).tweet_id)
        cache.commit(user, token, Timeline(ids(7, 5, 3), ids(3)[0], frozenset({user})))
        assert cache.load(user).ids == ids(9, 7, 5, 4, 3)

    def test_a_follow_that_changes_voids_the_rebuild(self, cache, cool, somebody):
        """The mark is gone, so is the right to commit."""
        user = somebody()
        token = cache.begin(user)
        cool(user)
        assert not cache.commit(user, token, Timeline(ids(1), BEGINNING, frozenset({user})))
        assert cache.load(user) is None

    def test_bodies_are_filled_once_and_stay_deleted(self, cache):
        """A tombstone is never filled again; what is not known is left out."""
        there, gone = (tweet(uuid.uuid4().int % 10**18) for _ in range(2))
        cache.fill([there], [gone.tweet_id])
        cache.fill([gone], [])
        asked = [there.tweet_id, gone.tweet_id, "1"]
        assert cache.bodies(asked) == {there.tweet_id: there, gone.tweet_id: None}


class TestMemoryCache(CachePromises):
    """In memory."""

    @pytest.fixture
    def arrive(self, cache):
        return cache.arrive

    @pytest.fixture
    def cool(self, cache):
        return cache.cool


@pytest.mark.stack
class TestRedisCache(CachePromises):
    """On the stack's Redis."""

    @pytest.fixture
    def redis(self):
        with connect(os.environ["REDIS_URL"]) as redis:
            yield redis

    @pytest.fixture
    def cache(self, redis):
        return RedisCache(redis)

    @pytest.fixture
    def arrive(self, redis):
        def insert(user, tweet_id):
            """Keep the list descending above its last element, as fan-out's script does."""
            key = layout.home_timeline(user)
            above = sorted({*redis.lrange(key, 0, -2), tweet_id}, reverse=True)
            mark = redis.lindex(key, -1)
            with redis.pipeline() as pipeline:
                pipeline.delete(key).rpush(key, *above, mark).execute()

        return insert

    @pytest.fixture
    def cool(self, redis):
        return lambda user: redis.delete(layout.home_timeline(user))

    def test_a_builder_that_died_is_forgotten(self, cache, redis, somebody):
        """Its mark expires within seconds, and a read does not keep it alive."""
        user = somebody()
        cache.begin(user)
        cache.load(user)
        assert 0 < redis.ttl(layout.home_timeline(user)) <= layout.REBUILD_SECONDS

    def test_a_read_renews_the_expiry(self, cache, redis, somebody):
        """Whoever reads stays warm."""
        user = somebody()
        cache.commit(user, cache.begin(user), Timeline(ids(1), BEGINNING, frozenset({user})))
        keys = [layout.home_timeline(user), layout.following(user)]
        for key in keys:
            redis.expire(key, 5)
        cache.load(user)
        assert all(redis.ttl(key) > 5 for key in keys)

    def test_a_timeline_without_its_following_is_cold(self, cache, redis, somebody):
        """Redis may evict one key of the two; the rebuild makes both."""
        user = somebody()
        built = Timeline(ids(1), BEGINNING, frozenset({user}))
        cache.commit(user, cache.begin(user), built)
        redis.delete(layout.following(user))
        assert cache.load(user) is None
        assert cache.commit(user, cache.begin(user), built)
        assert cache.load(user) == built

    def test_thousands_of_followees_fit(self, cache, somebody):
        """More arguments than Lua unpacks at once."""
        user = somebody()
        built = Timeline(ids(*range(800, 0, -1)), ids(1)[0], frozenset(f"f-{n}" for n in range(5_000)))
        cache.commit(user, cache.begin(user), built)
        assert cache.load(user) == built

    def test_recent_tweets_of_several_authors(self, cache, redis, somebody):
        """What fan-out remembered of each."""
        authors = [somebody(), somebody(), somebody()]
        for n, author in enumerate(authors[:2]):
            redis.zadd(layout.recent(author), {tweet(n).tweet_id: 0})
        assert sorted(cache.recent(authors)) == sorted(ids(0, 1))


def test_a_redis_that_is_away_is_named():
    """The reader goes to the database instead."""
    with connect("redis://127.0.0.1:9") as redis, pytest.raises(CacheAwayError, match="127"):
        RedisCache(redis).load("alice")
