"""What is on Redis, to the letter: processes of other releases read and write it too."""

import re
import uuid
from hashlib import blake2b

import pytest

from murmuration_timelines import layout
from murmuration_timelines.layout import VERSION
from murmuration_timelines.merge import Run, Timeline
from murmuration_timelines.read_ahead import ReadAhead
from murmuration_timelines.reader import TimelineReader
from murmuration_timelines.shown import Shown
from murmuration_timelines.tweets import Tweet

from .conftest import REAL, history, snowflake

pytestmark = pytest.mark.parametrize("kind", REAL[:1], indirect=True)
VERSIONS = [VERSION, VERSION + 1, 10]


@pytest.fixture
def replication(redis):
    return redis.info("replication")["master_replid"][:8]


def timeline(user, *places):
    return Timeline([snowflake(n) for n in places], layout.BEGINNING, Shown.of([user]))


@pytest.mark.parametrize("version", VERSIONS)
def test_what_a_reader_writes_has_its_version_and_history(redis, nodes, somebody, replication, version):
    """These very keys and texts, since version 2."""
    user, tweet_id, prefix = somebody(), snowflake(uuid.uuid4().int % 10**17), f"!{version}:{history(redis)}"
    reader = TimelineReader(nodes, version=version, now=lambda: 1_000)
    token = reader.home.begin(user)
    assert redis.lrange(f"home_timeline:{{{user}}}", 0, -1) == [f"!{version}:{replication}{token}"]
    reader.home.commit(user, token, timeline(user, 2, 1))
    assert redis.lrange(f"home_timeline:{{{user}}}", 0, -1) == [snowflake(2), snowflake(1), "0"]
    own, _, digests = raw(nodes, f"home_shown:{{{user}}}").partition(b" ")
    assert re.fullmatch(rf"{prefix};\d{{16}};1000;([6-9]\d{{4}}|1\d{{5}})", own.decode())
    assert digests == blake2b(user.encode(), digest_size=6).digest()
    reader.authors.commit(user, reader.authors.begin(user), timeline(user, 1))
    assert redis.lrange(f"author_timeline:{{{user}}}", 0, -1) == [snowflake(1), "0"]
    assert raw(nodes, f"author_shown:{{{user}}}").startswith(f"{prefix};".encode())
    reader.fill(reader.bodies([tweet_id])[1], {tweet_id: Tweet(tweet_id, "bob", '{"text": "hello"}')})
    assert redis.get(f"tweet:{{{tweet_id}}}") == f'{prefix}bob {{"text": "hello"}}'
    reader.keep_ahead(user, ReadAhead("name", 7, snowflake(4), Run([snowflake(3)], snowflake(2))))
    text = f"!{version}:name;7;{snowflake(4)};{snowflake(2)} {snowflake(3)}"
    assert redis.get(f"read_ahead:{{{user}}}") == text
    assert 0 < redis.ttl(f"read_ahead:{{{user}}}") <= layout.READ_AHEAD_SECONDS


def test_what_a_worker_writes_is_the_same_for_readers_of_all_versions(redis, nodes, writer, somebody):
    """These very keys, since the first release; whom a timeline shows since version 2."""
    user, tweet_id = somebody(), snowflake(uuid.uuid4().int % 10**17)
    redis.rpush(f"home_timeline:{{{user}}}", "!00000000token")
    writer.insert(tweet_id, [user])
    writer.agree("bob", writer.note("bob", [user]), [user], [])
    assert redis.lrange(f"home_timeline:{{{user}}}", 0, -1) == [tweet_id, "!00000000token~"]
    redis.rpush(f"author_timeline:{{{user}}}", "0")
    writer.insert_own(user, tweet_id)
    assert redis.lrange(f"author_timeline:{{{user}}}", 0, -1) == [tweet_id, "0"]
    redis.lset(f"home_timeline:{{{user}}}", -1, "0")
    redis.set(f"home_shown:{{{user}}}", b"!9:00000000;5;6;7 " + Shown.of([user, "carol"]).digests)
    writer.agree("bob", writer.note("bob", [user]), [user], [])
    writer.agree("carol", writer.note("carol", [user]), [], [])
    own, _, digests = raw(nodes, f"home_shown:{{{user}}}").partition(b" ")
    assert re.fullmatch(r"!9:00000000;\d{16};6;7", own.decode())
    assert digests == Shown.of([user, "bob"]).digests
    writer.add_recent(user, tweet_id)
    assert redis.zrange(f"recent:{{{user}}}", 0, -1, withscores=True) == [(tweet_id, 0)]
    assert redis.smembers(f"noted:{{{user}}}") == {"bob", "carol"}
    writer.set_tombstone(tweet_id)
    assert redis.get(f"tweet:{{{tweet_id}}}") == ""


def test_digests_ascend_whoever_wrote_them(nodes, reader, writer, somebody):
    """In the order of bytes, whatever the locale of Redis; so readers search them."""
    user = somebody()
    reader.home.commit(user, reader.home.begin(user), timeline(user, 1))
    for n in range(40):
        writer.agree(f"u{n}", writer.note(f"u{n}", [user]), [user], [])
        for left in range(n % 3):
            writer.agree(f"u{left}", writer.note(f"u{left}", [user]), [], [])
    assert (
        raw(nodes, f"home_shown:{{{user}}}").partition(b" ")[2]
        == Shown.of([user, *(f"u{n}" for n in range(2, 40))]).digests
    )


def test_what_the_first_release_built_is_cold_and_made_way_for(redis, reader, writer, somebody):
    """Its readers do not read ours either, and what its workers do to ours makes them cold."""
    user = somebody()
    reader.home.commit(user, reader.home.begin(user), timeline(user, 1))
    redis.set(f"followees:{{{user}}}", f"!12345678 {user} ")  # so its reader has been here
    assert reader.home.load([user]) == {}
    assert writer.agree("bob", writer.note("bob", [user]), [user], []) == []
    assert not redis.exists(*(f"{kind}:{{{user}}}" for kind in ("home_timeline", "home_shown", "followees")))
    redis.rpush(f"home_timeline:{{{user}}}", "0")
    redis.set(f"followees:{{{user}}}", f"!12345678 {user} ")
    for n in range(layout.SLACK + 1):
        assert writer.insert(snowflake(n), [user]) == 1
    assert reader.home.commit(user, reader.home.begin(user), timeline(user, 2))
    assert not redis.exists(f"followees:{{{user}}}")
    assert reader.home.load([user]) == {user: timeline(user, 2)}


def raw(nodes, key):
    """Return the bytes of a text."""
    return nodes.client.execute_command("GET", key, NEVER_DECODE=True)


def test_what_another_version_built_is_cold_and_built_anew(nodes, writer, somebody):
    """In either direction: the timeline, the right to commit, the body. A rebuild in progress is respected."""
    user, tweet_id = somebody(), snowflake(uuid.uuid4().int % 10**17)
    readers = [TimelineReader(nodes, version=version) for version in VERSIONS[:2]]
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
