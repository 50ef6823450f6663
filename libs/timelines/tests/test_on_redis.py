"""What is Redis's own: how long things live, evictions, depths; under ids of this test's own."""

import itertools
import uuid
from contextlib import closing

import pytest

from murmuration_runtime.errors import RedisAwayError, StoreRefusedError
from murmuration_testkit.redis_nodes import redis_node
from murmuration_testkit.waiting import eventually
from murmuration_timelines import layout, reset_timelines
from murmuration_timelines.merge import Timeline
from murmuration_timelines.reader import TimelineReader
from murmuration_timelines.shown import Shown
from murmuration_timelines.tweets import Tweet
from murmuration_timelines.writer import TimelineWriter, connect

from .conftest import FIRST_AT, REAL, snowflake

KEYS = {
    "home": (layout.home_timeline, layout.home_shown),
    "authors": (layout.author_timeline, layout.author_shown),
}


def timeline(user, *places):
    return Timeline([snowflake(n) for n in places], layout.BEGINNING, Shown.of([user]))


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
        built = Timeline(ids, ids[-1], Shown.of(f"f-{n}" for n in range(5_000)))
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
        writer.note("bob", [user])
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
        keys = [layout.home_timeline(user), layout.home_shown(user)]
        for key in keys:
            redis.expire(key, 100)
        for followers in ([user], []):
            assert writer.agree("bob", writer.note("bob", [user]), followers, [snowflake(2)]) == []
        assert [redis.ttl(key) for key in keys] == [100, 100]

    def test_a_late_tweet_finds_its_place_at_any_depth(self, redis, writer, somebody):
        """From the last place up, and then once more: nothing changes."""
        user, places = somebody(), range(300)
        redis.set(layout.home_shown(user), "!")
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


@pytest.mark.stack(shared=False)
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


@pytest.fixture
def node():
    with redis_node() as node:
        yield node


@pytest.fixture
def own(node):
    """A client of a Redis of this test's own."""
    with closing(connect(node.url)) as nodes:
        yield nodes


@pytest.mark.stack(shared=False)
def test_a_page_of_a_reader_who_follows_5000_is_at_most_32_kb(node, own):
    """Their names need not travel for each page."""
    home = TimelineReader(own).home
    everybody = Shown.of(["ann", *(f"user-{n:029d}" for n in range(5_000))])
    assert home.commit("ann", home.begin("ann"), Timeline([snowflake(n) for n in range(800, 0, -1)], "0", everybody))
    sent = [node.redis.info("stats")["total_net_output_bytes"]]
    for ask in (lambda: True, lambda: home.load(["ann"], 63)):  # the first is what the figure itself costs
        assert ask()
        sent.append(node.redis.info("stats")["total_net_output_bytes"])
    assert (sent[2] - sent[1]) - (sent[1] - sent[0]) <= 32_000


REFUSALS = [{"min-replicas-to-write": 1}, {"maxmemory-policy": "noeviction", "maxmemory": 1}]
refusing = pytest.mark.parametrize("refusal", REFUSALS, ids=["replicas away", "full"])


@pytest.mark.stack(shared=False)
@refusing
def test_a_redis_that_refuses_writes_is_read(node, own, refusal):
    """Its replicas are gone, or it is full: it still has what it had, also what should be renewed by this read."""
    reader, writer = TimelineReader(own, now=lambda: FIRST_AT), TimelineWriter(own)
    said = Tweet(snowflake(1), "ann", "hello")
    assert reader.home.commit("ann", reader.home.begin("ann"), timeline("ann", 1))
    writer.add_recent("ann", snowflake(1))
    writer.note("bob", ["ann"])
    reader.fill(reader.bodies([said.tweet_id])[1], {said.tweet_id: said})
    node.redis.expire(layout.home_timeline("ann"), layout.RENEWED_SECONDS - 1)
    for name, value in refusal.items():
        node.redis.config_set(name, value)
    assert reader.home.load(["ann"]) == {"ann": timeline("ann", 1)}
    assert reader.bodies([said.tweet_id]) == ({said.tweet_id: said}, {})
    assert (reader.recent(["ann"]), reader.noted("ann")) == ([snowflake(1)], ["bob"])
    with pytest.raises(RedisAwayError):
        writer.insert(snowflake(2), ["ann"])


@pytest.mark.stack(shared=False)
def test_timelines_are_made_cold_on_a_redis_that_is_full(node, own):
    """That is when it is needed, and it frees memory."""
    home = TimelineReader(own).home
    assert home.commit("ann", home.begin("ann"), timeline("ann", 1))
    for name, value in REFUSALS[1].items():
        node.redis.config_set(name, value)
    assert reset_timelines.of_user(own, "ann")["home_timeline"] == 1


@pytest.mark.stack(shared=False)
def test_a_slow_reader_brings_no_deleted_tweet_back(node, own, monkeypatch):
    """Nobody reads a tombstone, so it is evicted first: a right to fill a body is good for some seconds only."""
    monkeypatch.setattr(layout, "RIGHT_SECONDS", 1)
    reader, said = TimelineReader(own), Tweet(snowflake(1), "ann", "hello")
    _, rights = reader.bodies([said.tweet_id])
    given, _ = node.redis.time()
    node.redis.set(layout.body(said.tweet_id), "")
    node.redis.delete(layout.body(said.tweet_id))
    eventually(lambda: node.redis.time()[0] > given + 1)
    reader.fill(rights, {said.tweet_id: said})
    known, rights = reader.bodies([said.tweet_id])
    assert known == {}
    reader.fill(rights, {said.tweet_id: said})
    assert reader.bodies([said.tweet_id])[0] == {said.tweet_id: said}


@pytest.mark.stack(shared=False)
def test_short_of_memory_who_never_returns_makes_room_for_who_reads():
    """Though every tweet is pushed to both, and to Redis that is a use of either's list."""
    gone, here = ([f"{kind}-{n}" for n in range(200)] for kind in ("gone", "here"))
    ids, shown = [snowflake(n) for n in range(600, 0, -1)], Shown.of(f"f-{n}" for n in range(200))
    with redis_node("--maxmemory", "3500kb", "--maxmemory-samples", "10") as node, closing(connect(node.url)) as own:
        home, writer, numbers = TimelineReader(own).home, TimelineWriter(own), itertools.count(601)

        def read(users):
            """Read, and build what is cold; return how many were warm."""
            warm = home.load(users, 63)
            for user in users:
                if user not in warm and (token := home.begin(user)):
                    home.commit(user, token, Timeline(ids, ids[-1], shown))
            return len(warm)

        def few_are_left():
            for _ in range(8):
                writer.insert(snowflake(next(numbers)), [*gone, *here])
            read(here)
            return node.redis.exists(*map(layout.home_timeline, gone)) < len(gone) / 10

        read(gone)
        eventually(few_are_left, within=60, every=0.2)
        assert next(numbers) < 601 + 5 * layout.SLACK  # by then Redis alone would not have evicted half of them
        assert read(here) > 0.9 * len(here)


@pytest.mark.stack(shared=False)
def test_a_redis_that_refuses_this_process_is_away_for_readers_and_named_for_operators():
    """The page comes from the database; readiness says whom to call."""
    with redis_node() as node:
        node.redis.config_set("requirepass", "secret")
        with closing(connect(node.url)) as nodes:
            for ask in (nodes.check, lambda: TimelineReader(nodes).home.load(["ann"])):
                with pytest.raises(RedisAwayError) as refused:
                    ask()
                assert isinstance(refused.value, StoreRefusedError)
