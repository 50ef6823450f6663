"""What is Redis's own: how long things live, evictions, depths; under ids of this test's own."""

import uuid
from contextlib import closing

import pytest

from murmuration_runtime.errors import RedisAwayError, StoreRefusedError
from murmuration_testkit.redis_nodes import redis_node
from murmuration_timelines import layout
from murmuration_timelines.merge import Timeline
from murmuration_timelines.reader import TimelineReader, connect

from .conftest import REAL, snowflake

KEYS = {
    "home": (layout.home_timeline, layout.followees),
    "authors": (layout.author_timeline, layout.author_followees),
}


def timeline(user, *places):
    return Timeline([snowflake(n) for n in places], layout.BEGINNING, frozenset({user}))


@pytest.mark.parametrize("kind", REAL, indirect=True)
class TestOnRedis:
    """On the stack's Redis, and on three masters."""

    @pytest.fixture(params=KEYS)
    def timelines(self, reader, request):
        return getattr(reader, request.param)

    @pytest.fixture
    def keys(self, timelines, reader):
        names = KEYS["home" if timelines is reader.home else "authors"]
        return lambda user: [name(user) for name in names]

    def test_a_builder_that_died_is_forgotten(self, timelines, redis, keys, somebody):
        """Its marker expires within seconds; a read does not keep it alive, its builder does."""
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
        ids = [snowflake(n) for n in range(800, 0, -1)]
        built = Timeline(ids, ids[-1], frozenset(f"f-{n}" for n in range(5_000)))
        timelines.commit(user, timelines.begin(user), built)
        assert timelines.load([user]) == {user: built}

    def test_what_is_built_in_the_first_seconds_of_a_history_is_provisional(self, nodes, somebody, redis):
        """Recent tweets may have been lost with the old one and not be in the index yet; no read prolongs that."""
        now, user = 1000.0, somebody()
        reader = TimelineReader(nodes, clock=lambda: now)
        reader.recent([user])
        provisional = layout.PROVISIONAL_SECONDS // 2, layout.PROVISIONAL_SECONDS
        for least, most in (provisional, (layout.TIMELINE_SECONDS, layout.TIMELINE_SECONDS)):
            redis.delete(layout.home_timeline(user))
            reader.home.commit(user, reader.home.begin(user), timeline(user, 1))
            reader.home.load([user])
            assert least - 5 < redis.ttl(layout.home_timeline(user)) <= most
            now += layout.SETTLING_SECONDS

    def test_recent_tweets_notes_and_tombstones_expire(self, redis, writer, somebody):
        """Each after its time; a tombstone stands where a body was."""
        user, tweet_id = somebody(), snowflake(uuid.uuid4().int % 10**17)
        redis.set(layout.body(tweet_id), "a body")
        writer.add_recent(user, tweet_id)
        writer.note_change(user, "bob")
        writer.set_tombstone(tweet_id)
        assert redis.get(layout.body(tweet_id)) == ""
        for key, seconds in (
            (layout.recent(user), layout.RECENT_SECONDS),
            (layout.noted(user), layout.NOTE_SECONDS),
            (layout.body(tweet_id), layout.TOMBSTONE_SECONDS),
        ):
            assert 0 < redis.ttl(key) <= seconds

    def test_a_change_of_a_follow_leaves_the_expiry_as_it_is(self, redis, reader, writer, somebody):
        """Only a read renews it."""
        user = somebody()
        reader.home.commit(user, reader.home.begin(user), timeline(user, 1))
        keys = [layout.home_timeline(user), layout.followees(user)]
        for key in keys:
            redis.expire(key, 100)
        assert writer.set_followed(user, "bob", [snowflake(2)])
        assert writer.set_unfollowed(user, "bob")
        assert [redis.ttl(key) for key in keys] == [100, 100]

    def test_a_late_tweet_finds_its_place_at_any_depth(self, redis, writer, somebody):
        """From the last place up, and then once more: nothing changes."""
        user, places = somebody(), range(300)
        redis.rpush(layout.home_timeline(user), *(snowflake(2 * n) for n in reversed(places)), "0")
        for n in (*places, *places):
            writer.insert(snowflake(2 * n + 1), [user])
        expected = [*(snowflake(n) for n in reversed(range(600))), "0"]
        assert redis.lrange(layout.home_timeline(user), 0, -1) == expected

    def test_one_call_serves_a_page_of_followers(self, redis, writer, somebody):
        """Warm ones get the tweet, cold ones stay cold; a tweet older than any list is inserted nowhere."""
        users = [somebody() for _ in range(1_000)]
        for user in users[::2]:
            redis.rpush(layout.home_timeline(user), snowflake(1))
        redis.rpush(layout.home_timeline(users[501]), "0")
        assert writer.insert(snowflake(2), users) == 501
        assert writer.insert(snowflake(0), users) == 1
        assert redis.lrange(layout.home_timeline(users[0]), 0, -1) == [snowflake(2), snowflake(1)]
        assert redis.lrange(layout.home_timeline(users[501]), 0, -1) == [snowflake(2), snowflake(0), "0"]
        assert not redis.exists(layout.home_timeline(users[1]))


@pytest.mark.stack
def test_what_is_evicted_is_evicted_whole(somebody):
    """Short of memory, Redis takes whole keys: of each timeline all is there, or it is cold."""
    users = [somebody() for _ in range(1_500)]
    with redis_node("--maxmemory", "4mb") as node, closing(connect(node.url)) as nodes:
        home = TimelineReader(nodes).home
        whole = {user: timeline(user, *range(200, 0, -1)) for user in users}
        for user in users:
            home.commit(user, home.begin(user), whole[user])
        found = home.load(users)
        assert 0 < len(found) < len(users)
        assert found == {user: whole[user] for user in found}


@pytest.mark.stack
def test_a_redis_that_refuses_this_process_is_away_for_readers_and_named_for_operators():
    """The page comes from the database; readiness says whom to call."""
    with redis_node() as node:
        node.redis.config_set("requirepass", "secret")
        with closing(connect(node.url)) as nodes:
            for ask in (nodes.check, lambda: TimelineReader(nodes).home.load(["ann"])):
                with pytest.raises(RedisAwayError) as refused:
                    ask()
                assert isinstance(refused.value, StoreRefusedError)
