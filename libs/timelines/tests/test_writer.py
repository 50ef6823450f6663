"""Redis itself: the script against the rule, and what is kept for how long."""

import os
import uuid

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fanout_worker import layout
from fanout_worker.deliveries import StoreAwayError
from fanout_worker.timelines import Timelines, connect
from murmuration_testkit.redis_nodes import redis_cluster

from .memory import agreed, placed

FIRST = 1_700_000_000_000_000_000


def snowflake(n):
    return str(FIRST + n)


@pytest.fixture(scope="module")
def cluster():
    with redis_cluster() as cluster:
        yield cluster


@pytest.mark.stack
class TestOnRedis:
    """On the stack's Redis, and on three masters; under ids of this test's own."""

    @pytest.fixture(params=["single", "cluster"])
    def url(self, request):
        return os.environ["REDIS_URL"] if request.param == "single" else request.getfixturevalue("cluster").url

    @pytest.fixture
    def nodes(self, url):
        nodes = connect(url)
        yield nodes
        nodes.close()

    @pytest.fixture
    def redis(self, nodes):
        return nodes.client

    @pytest.fixture
    def timelines(self, nodes):
        return Timelines(nodes)

    @given(
        starts=st.lists(
            st.tuples(
                st.sets(st.integers(0, 300), max_size=150),
                st.sampled_from([[], ["0"], ["!token"]]),
            ),
            min_size=1,
            max_size=3,
        ),
        arrivals=st.lists(st.integers(0, 300), max_size=20),
    )
    @settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    def test_the_script_does_what_the_rule_says(self, redis, timelines, starts, arrivals):
        """Any ids in any order, onto any lists: strictly descending, no repeats, no hole above the last element."""
        users = [uuid.uuid4().hex for _ in starts]
        expected = [[*(snowflake(n) for n in sorted(ids, reverse=True)), *end] for ids, end in starts]
        for user, ids in zip(users, expected, strict=True):
            if ids:
                redis.rpush(layout.home_timeline(user), *ids)
        for n in arrivals:
            timelines.insert(snowflake(n), users)
            expected = [placed(ids, snowflake(n)) for ids in expected]
        assert [redis.lrange(layout.home_timeline(user), 0, -1) for user in users] == expected
        for user in users:
            redis.delete(layout.home_timeline(user))

    def test_a_late_tweet_finds_its_place_at_any_depth(self, redis, timelines, somebody):
        """From the last place up, and then once more: nothing changes."""
        user, places = somebody(), range(300)
        redis.rpush(layout.home_timeline(user), *(snowflake(2 * n) for n in reversed(places)), "0")
        for n in (*places, *places):
            timelines.insert(snowflake(2 * n + 1), [user])
        expected = [*(snowflake(n) for n in reversed(range(600))), "0"]
        assert redis.lrange(layout.home_timeline(user), 0, -1) == expected

    def test_a_full_timeline_loses_its_oldest(self, redis, timelines, somebody):
        """Over the cap and its slack the tail is cut, and what is below it comes from the database."""
        user = somebody()
        redis.rpush(layout.home_timeline(user), "0")
        total = layout.CAP + layout.SLACK
        for n in range(total):
            timelines.insert(snowflake(n), [user])
        expected = [snowflake(n) for n in range(total - 1, total - 1 - layout.CAP, -1)]
        assert redis.lrange(layout.home_timeline(user), 0, -1) == expected

    def test_one_call_serves_a_page_of_followers(self, redis, timelines, somebody):
        """Warm ones get the tweet, cold ones stay cold."""
        users = [somebody() for _ in range(1_000)]
        for user in users[::2]:
            redis.rpush(layout.home_timeline(user), "0")
        assert timelines.insert(snowflake(1), users) == len(users) / 2
        assert redis.lrange(layout.home_timeline(users[0]), 0, -1) == [snowflake(1), "0"]
        assert not redis.exists(layout.home_timeline(users[1]))

    def test_recent_tweets_are_capped_sorted_and_expire(self, redis, timelines, somebody):
        """The latest of an author, whatever order they came in."""
        author = somebody()
        for n in (*range(layout.RECENT + 5, 5, -1), 3, 4):
            timelines.remember(author, snowflake(n))
        kept = redis.zrevrange(layout.recent(author), 0, -1)
        assert kept == [snowflake(n) for n in range(layout.RECENT + 5, 5, -1)]
        assert 0 < redis.ttl(layout.recent(author)) <= layout.RECENT_SECONDS

    def test_what_an_author_said_comes_into_their_own_timelines_where_these_are_warm(self, redis, timelines, somebody):
        """The one that they read, and the one that a celebrity's readers merge: a timeline like any other."""
        author = somebody()
        both = layout.author_timeline(author), layout.home_timeline(author)
        assert timelines.own(author, snowflake(1)) == 0
        assert not redis.exists(*both)
        for n, key in enumerate(both, 1):
            redis.rpush(key, "0")
            assert timelines.own(author, snowflake(n)) == n
        assert [redis.lrange(key, 0, -1) for key in both] == [
            [snowflake(2), snowflake(1), "0"],
            [snowflake(2), "0"],
        ]

    def test_a_deleted_tweet_has_a_tombstone_in_place_of_its_body(self, redis, timelines):
        """Whatever a reader had put there."""
        tweet_id = snowflake(uuid.uuid4().int % 10**17)
        redis.set(layout.body(tweet_id), "a body")
        timelines.bury(tweet_id)
        assert redis.get(layout.body(tweet_id)) == ""
        assert 0 < redis.ttl(layout.body(tweet_id)) <= layout.TOMBSTONE_SECONDS

    def test_a_flood_during_a_rebuild_never_cuts_its_mark(self, redis, timelines, somebody):
        """Without its mark the list would pass for a timeline."""
        user, total = somebody(), layout.CAP + layout.SLACK + 1
        redis.rpush(layout.home_timeline(user), "!token")
        for n in range(total):
            timelines.insert(snowflake(n), [user])
        assert redis.lindex(layout.home_timeline(user), -1) == "!token"
        assert redis.llen(layout.home_timeline(user)) == total + 1

    @given(
        start=st.sets(st.integers(0, 60), max_size=20),
        end=st.sampled_from([[], ["0"], ["!token"]]),
        following=st.sets(st.sampled_from(["me", "bob", "bobby", "o", "a.bob"])),
        latest=st.none() | st.sets(st.integers(0, 60), max_size=30),
    )
    @settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    def test_a_timeline_is_made_to_agree_as_the_rule_says(self, redis, timelines, start, end, following, latest):
        """Followed: shown with all that lies above the last element. Not followed: not shown. Else cold."""
        user = uuid.uuid4().hex
        keys = layout.home_timeline(user), layout.following(user)
        ids = [*(snowflake(n) for n in sorted(start, reverse=True)), *end]
        if ids:
            redis.rpush(keys[0], *ids)
            redis.expire(keys[0], 100)
        if following:
            redis.set(keys[1], f"!12345678 {' '.join(following)} ", ex=100)
        tweets = None if latest is None else {snowflake(n) for n in latest}
        answer = timelines.agree(user, "bob", tweets)
        expected = agreed(ids, following, "bob", tweets)
        kept = (redis.get(keys[1]) or "").split()[1:]
        assert (redis.lrange(keys[0], 0, -1), sorted(kept), answer) == (expected[0], sorted(expected[1]), expected[2])
        assert redis.ttl(keys[0]) == (100 if expected[0] else -2)
        assert redis.ttl(keys[1]) == (100 if following else -2)
        redis.delete(*keys)

    def test_a_full_timeline_stays_complete_when_somebody_prolific_is_followed(self, redis, timelines, somebody):
        """Their latest 800 may end above its last element; so it ends where theirs do, or higher."""
        user, total = somebody(), layout.CAP + layout.SLACK
        redis.rpush(layout.home_timeline(user), *(snowflake(2 * n) for n in range(total, 0, -1)))
        redis.set(layout.following(user), f"!12345678 {user} ")
        latest = [snowflake(2 * n + 1) for n in range(total, total - layout.CAP, -1)]
        timelines.agree(user, "bob", latest)
        kept = redis.lrange(layout.home_timeline(user), 0, -1)
        assert kept == [snowflake(n) for n in range(2 * total + 1, 2 * total + 1 - layout.CAP, -1)]

    def test_a_note_is_kept_for_minutes_and_tells_whether_anyone_cares(self, redis, timelines, somebody):
        """Cold: False, and the note waits for the next rebuild."""
        user = somebody()
        assert not timelines.note(user, "bob")
        redis.rpush(layout.home_timeline(user), "0")
        assert timelines.note(user, "carol")
        assert redis.smembers(layout.noted(user)) == {"bob", "carol"}
        assert 0 < redis.ttl(layout.noted(user)) <= layout.NOTE_SECONDS


def test_a_redis_that_is_away_is_named():
    """No answer within seconds is an error that invites another try."""
    with pytest.raises(StoreAwayError, match="127"):
        Timelines(connect("redis://127.0.0.1:9")).check()
