"""What is on Redis, to the letter: processes of other releases read and write it too."""

import uuid

import pytest

from murmuration_timelines import layout
from murmuration_timelines.merge import Timeline
from murmuration_timelines.reader import TimelineReader
from murmuration_timelines.tweets import Tweet

from .conftest import REAL, snowflake

pytestmark = pytest.mark.parametrize("kind", REAL[:1], indirect=True)
PREFIXES = {1: "!", 2: "!2:", 10: "!10:"}


@pytest.fixture
def history(redis):
    return redis.info("replication")["master_replid"][:8]


def timeline(user, *places):
    return Timeline([snowflake(n) for n in places], layout.BEGINNING, frozenset({user}))


@pytest.mark.parametrize("version", PREFIXES)
def test_what_a_reader_writes_has_its_version_and_history(redis, nodes, somebody, history, version):
    """Version 1 is what the first release wrote: these very keys and texts."""
    user, tweet_id, prefix = somebody(), snowflake(uuid.uuid4().int % 10**17), PREFIXES[version] + history
    reader = TimelineReader(nodes, version=version)
    token = reader.home.begin(user)
    assert redis.lrange(f"home_timeline:{{{user}}}", 0, -1) == [prefix + token]
    reader.home.commit(user, token, timeline(user, 2, 1))
    assert redis.lrange(f"home_timeline:{{{user}}}", 0, -1) == [snowflake(2), snowflake(1), "0"]
    assert redis.get(f"followees:{{{user}}}") == f"{prefix} {user} "
    reader.authors.commit(user, reader.authors.begin(user), timeline(user, 1))
    assert redis.lrange(f"author_timeline:{{{user}}}", 0, -1) == [snowflake(1), "0"]
    assert redis.get(f"author_followees:{{{user}}}") == f"{prefix} {user} "
    reader.fill(reader.bodies([tweet_id])[1], {tweet_id: Tweet(tweet_id, "bob", '{"text": "hello"}')})
    assert redis.get(f"tweet:{{{tweet_id}}}") == f'{prefix}bob {{"text": "hello"}}'


def test_what_a_worker_writes_is_the_same_for_readers_of_all_versions(redis, writer, somebody):
    """These very keys, since the first release."""
    user, tweet_id = somebody(), snowflake(uuid.uuid4().int % 10**17)
    redis.rpush(f"home_timeline:{{{user}}}", "!00000000token")
    writer.insert(tweet_id, [user])
    writer.set_followed(user, "bob", [])
    assert redis.lrange(f"home_timeline:{{{user}}}", 0, -1) == [tweet_id, "!00000000token~"]
    redis.rpush(f"author_timeline:{{{user}}}", "0")
    writer.insert_own(user, tweet_id)
    assert redis.lrange(f"author_timeline:{{{user}}}", 0, -1) == [tweet_id, "0"]
    redis.lset(f"home_timeline:{{{user}}}", -1, "0")
    redis.set(f"followees:{{{user}}}", f"!9:00000000 {user} carol ")
    writer.set_followed(user, "bob", [])
    writer.set_unfollowed(user, "carol")
    assert redis.get(f"followees:{{{user}}}") == f"!9:00000000 {user} bob "
    writer.add_recent(user, tweet_id)
    assert redis.zrange(f"recent:{{{user}}}", 0, -1, withscores=True) == [(tweet_id, 0)]
    writer.note_change(user, "bob")
    assert redis.smembers(f"noted:{{{user}}}") == {"bob"}
    writer.set_tombstone(tweet_id)
    assert redis.get(f"tweet:{{{tweet_id}}}") == ""


def test_what_another_version_built_is_cold_and_built_anew(nodes, writer, somebody):
    """In either direction: the timeline, the right to commit, the body. A rebuild in progress is respected."""
    user, tweet_id = somebody(), snowflake(uuid.uuid4().int % 10**17)
    readers = [TimelineReader(nodes, version=version) for version in (1, 2)]
    for mine, other in (readers, readers[::-1]):
        token = mine.home.begin(user)
        assert other.home.begin(user) is None
        assert not other.home.renew(user, token)
        assert not other.home.commit(user, token, timeline(user, 1))
        assert mine.home.commit(user, token, timeline(user, 1))
        writer.insert(snowflake(2), [user])
        assert other.home.load([user]) == {}
        assert mine.home.load([user]) == {user: timeline(user, 2, 1)}
        mine.fill(mine.bodies([tweet_id])[1], {tweet_id: Tweet(tweet_id, "bob", "mine")})
        assert mine.bodies([tweet_id])[0] == {tweet_id: Tweet(tweet_id, "bob", "mine")}
        assert other.bodies([tweet_id])[1].keys() == {tweet_id}
    writer.set_tombstone(tweet_id)
    assert [reader.bodies([tweet_id]) for reader in readers] == [({tweet_id: None}, {})] * 2
