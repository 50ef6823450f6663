"""The process, on real parts: rows in, events out, whatever happens to it in between."""

import json
import os
import re
import signal
import subprocess
import sys
import time
import uuid
from dataclasses import replace

import pytest

from cdc_bridge.app import now_ms
from cdc_bridge.dynamo_leases import LeaseTable
from cdc_bridge.dynamo_streams import Streams
from cdc_bridge.gaps import owe_repair
from contracts import TOPICS
from contracts.registry import codec_for
from contracts.table_files import load
from contracts.topic import DATA
from murmuration_testkit.topics import largest_batch
from murmuration_testkit.waiting import eventually

from .records import block, edge, mute, request, tweet, user

TWEETS_TIP = r'cdc_bridge_tip_at_ms\{[^}]*table="tweets"'
NOBODY = {"KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:1", "SCHEMA_REGISTRY_URL": "http://127.0.0.1:1"}
AWS_NOWHERE = {
    "AWS_ENDPOINT_URL": "http://127.0.0.1:9",
    "AWS_DEFAULT_REGION": "eu-central-1",
    "AWS_ACCESS_KEY_ID": "nobody",
    "AWS_SECRET_ACCESS_KEY": "nothing",
}


@pytest.fixture
def table(dynamodb, table_prefix):
    """Write to a table under our prefix."""

    class Table:
        def __init__(self, prefix):
            self._prefix = prefix

        def under(self, prefix):
            return Table(prefix)

        def put(self, name, item):
            dynamodb.put_item(TableName=self._prefix + name, Item=item)

        def delete(self, name, **key):
            dynamodb.delete_item(TableName=self._prefix + name, Key={k: {"S": value} for k, value in key.items()})

    return Table(table_prefix)


def naming(*ids):
    """Say whether a message's headers name one of these."""
    wanted = {name.encode() for name in ids}
    return lambda headers: not wanted.isdisjoint(headers.values())


def sequence(message):
    return int(dict(message.headers())["sequence_number"])


def decode(message):
    codec = codec_for(TOPICS[message.topic()], os.environ["SCHEMA_REGISTRY_URL"])
    return codec.decode(message.value())


@pytest.mark.stack
class TestBridge:
    def test_rows_become_events_in_their_place(self, start, tap, table, table_prefix, somebody):
        """Follow, unfollow, tweet, soft delete and removal: topic, partition, headers and order are the contract's."""
        ann, bob = somebody(), somebody()
        one, two = (str(uuid.uuid4().int % 10**18 + 10**18) for _ in range(2))
        pipe = tap(*TOPICS)
        bridge = start(TABLE_PREFIX=table_prefix).until_ready()
        table.put("followers", edge(ann, bob))
        table.put("followers", edge(ann, bob, followed_at=1))
        table.delete("followers", followee_id=ann, follower_id=bob)
        table.put("tweets", tweet(one, ann, "good morning", 17))
        table.put("tweets", tweet(one, ann, "good morning", 17, deleted_at=18))
        table.delete("tweets", tweet_id=one)
        table.put("tweets", tweet(two, ann))
        table.delete("tweets", tweet_id=two)
        messages = pipe.until(lambda found: len(found) >= 6, naming(ann, one, two))
        events = {name: [decode(m) for m in messages if m.topic() == name] for name in TOPICS}
        assert [(e.follower_id, e.following) for e in events["FollowChanged"]] == [(bob, True), (bob, False)]
        assert {(e.tweet_id, e.author_id, e.text) for e in events["TweetCreated"]} == {
            (one, ann, "good morning"),
            (two, ann, "hello"),
        }
        assert {(e.tweet_id, e.occurred_at) for e in events["TweetDeleted"]} == {(one, 18), (two, None)}
        for message in messages:
            topic, event = TOPICS[message.topic()], decode(message)
            assert message.key().decode() == topic.key(event)
            assert message.partition() == topic.partition(topic.key(event))
            assert message.headers() == topic.headers(event)
        metrics = bridge.get("/metrics")[1]
        assert 'cdc_bridge_events_published_total{topic="FollowChanged"} 2.0' in metrics
        assert 'cdc_bridge_lag_seconds_count{table="followers"} 1.0' in metrics  # a removal carries no time
        assert 'build_info{commit="unknown",' in metrics

    def test_who_is_blocked_muted_and_asked_becomes_events_too(self, start, tap, table, table_prefix, somebody):
        """Each once and in order, on its own topic; accepting a request ends it only once."""
        ann, bob = somebody(), somebody()
        pipe = tap(*TOPICS)
        start(TABLE_PREFIX=table_prefix).until_ready()
        table.put("blocks", block(ann, bob, 17))
        table.delete("blocks", pair=f"{ann}#{bob}")
        table.put("mutes", mute(ann, bob, 18))
        table.delete("mutes", muter_id=ann, muted_id=bob)
        for answered in ({}, {"accepted_at": 20}):
            table.put("follow_requests", request(ann, bob, 19))
            if answered:
                table.put("follow_requests", request(ann, bob, 19, **answered))
            table.delete("follow_requests", followee_id=ann, follower_id=bob)
        messages = pipe.until(lambda found: len(found) >= 8, naming(ann))
        told = {name: [decode(message) for message in messages if message.topic() == name] for name in TOPICS}
        assert [(e.blocker_id, e.blocked_id, e.blocking, e.occurred_at) for e in told["BlockChanged"]] == [
            (ann, bob, True, 17),
            (ann, bob, False, None),
        ]
        assert [(e.muter_id, e.muted_id, e.muting, e.occurred_at) for e in told["MuteChanged"]] == [
            (ann, bob, True, 18),
            (ann, bob, False, None),
        ]
        assert [(e.follower_id, e.followee_id, e.state, e.occurred_at) for e in told["FollowRequestChanged"]] == [
            (bob, ann, "requested", 19),
            (bob, ann, "ended", None),
            (bob, ann, "requested", 19),
            (bob, ann, "accepted", 20),
        ]

    def test_an_account_is_told_state_by_state_and_ends_with_a_tombstone(
        self, start, tap, table, table_prefix, somebody
    ):
        """What nobody may know tells nothing, and what happens to a deleted row neither."""
        ann = somebody()
        pipe = tap("UserChanged", "UserChanged.dlq")
        start(TABLE_PREFIX=table_prefix).until_ready()
        rows = [
            {"created_at": None, "display_name": None, "followers_count": 1},
            {"followers_count": 1},
            {"followers_count": 1, "celebrity_since": "7"},
            {"followers_count": 2},
            {"display_name": None, "followers_count": 2, "deleted_at": 9},
            {"display_name": None, "followers_count": 1, "deleted_at": 9},
        ]
        for version, row in enumerate(rows, 1):
            table.put("users", user(**{"user_id": ann, "version": version} | row))
        table.delete("users", user_id=ann)
        partition = TOPICS["UserChanged"].partition
        last = next(each for each in iter(somebody, None) if partition(each) == partition(ann))  # so it comes behind
        table.put("users", user(last))
        messages = pipe.until(lambda found: found and found[-1].key() == last.encode(), naming(ann, last))
        *states, gone = [message for message in messages if message.key() == ann.encode()]
        told = [decode(state) for state in states]
        assert [(e.display_name, e.followers_count, e.version, e.deleted_at) for e in told] == [
            ("Ann", 1, 2, None),
            ("Ann", 2, 4, None),
            (None, 2, 5, 9),
        ]
        topic = TOPICS["UserChanged"]
        assert topic.tombstone(gone.key(), {k: v.decode() for k, v in gone.headers()}).version == 5
        assert (gone.value(), gone.partition()) == (None, topic.partition(ann))

    def test_the_first_stream_of_users_is_read_as_soon_as_it_is_switched_on_and_a_snapshot_tells_the_rest(
        self, start, tap, table, new_tables, change_tables, dynamodb, somebody
    ):
        """By a bridge that was ready without it; what was written before is no gap, and a snapshot tells it."""
        prefix, before, after = f"bridge-{uuid.uuid4().hex[:8]}-", somebody(), somebody()
        streamless = replace(load(DATA)["users"], stream=None)
        dynamodb.create_table(TableName=f"{prefix}users", BillingMode="PAY_PER_REQUEST", **streamless.create)
        new_tables(prefix)
        table = table.under(prefix)
        pipe = tap("UserChanged")
        bridge = start(TABLE_PREFIX=prefix).until_ready()
        table.put("users", user(before))
        assert "has no stream yet" in bridge.command("snapshot", "users")
        change_tables(prefix, "switch", "users-stream", "--yes")
        table.put("users", user(after))
        messages = pipe.until(bool, naming(before, after))
        assert [message.key() for message in messages] == [after.encode()]
        assert bridge.metric("cdc_bridge_gaps_open") == 0
        owe_repair(LeaseTable(dynamodb, prefix), "users", "shard", "lost", now_ms() - 60_000)
        eventually(lambda: bridge.metric("cdc_bridge_snapshot_owed_seconds") >= 60)
        assert "OWED lost" in bridge.command("shards")
        done = json.loads(bridge.command("snapshot", "users", "--owed").splitlines()[-1])
        assert (done["message"], done["accounts"], done["moving"], done["broken"]) == ("snapshot done", 2, 0, 0)
        messages = pipe.until(lambda found: len(found) >= 3, naming(before, after))
        told = {message.key().decode(): decode(message) for message in messages}
        assert {key: event.source.shard_id for key, event in told.items()} == dict.fromkeys((before, after), "snapshot")
        assert "no snapshot is owed" in bridge.command("snapshot", "users", "--owed")
        eventually(lambda: bridge.metric("cdc_bridge_snapshot_owed_seconds") == 0)

    def test_killed_in_the_middle_it_repeats_only_what_lies_behind_the_checkpoint(
        self, start, tap, table, table_prefix, dynamodb, streams_client, somebody
    ):
        """Kill -9 as soon as something is on Kafka; afterwards every row has its event, and the order holds."""
        ann = somebody()
        fans = [somebody() for _ in range(200)]
        pipe = tap("FollowChanged")
        for fan in fans[:150]:
            table.put("followers", edge(ann, fan))
        victim = start(TABLE_PREFIX=table_prefix)
        pipe.until(bool, naming(ann))
        victim.end(signal.SIGKILL)
        arn = Streams(dynamodb, streams_client, table_prefix).arn("followers")
        [row] = LeaseTable(dynamodb, table_prefix).rows(arn).values()
        checkpoint = int(row.position or 0)
        for fan in fans[150:]:
            table.put("followers", edge(ann, fan))
        start(TABLE_PREFIX=table_prefix)

        def who(messages):
            return list(dict.fromkeys(dict(m.headers())["follower_id"].decode() for m in messages))

        messages = pipe.until(lambda found: len(who(found)) >= len(fans), naming(ann))
        assert who(messages) == fans
        numbers = [sequence(message) for message in messages]
        repeated = {number for number in numbers if numbers.count(number) > 1}
        assert all(number > checkpoint for number in repeated)

    def test_after_sigterm_the_next_one_repeats_nothing(self, start, tap, table, table_prefix, somebody):
        """It ends with 0, and gives its leases back, so nobody waits for them to expire."""
        ann = somebody()
        pipe = tap("FollowChanged")
        first = start(TABLE_PREFIX=table_prefix, LEASE_SECONDS="600").until_ready()
        table.put("followers", edge(ann, "one"))
        pipe.until(bool, naming(ann))
        assert first.end() == 0
        table.put("followers", edge(ann, "two"))
        second = start(TABLE_PREFIX=table_prefix, LEASE_SECONDS="600").until_ready()
        table.put("followers", edge(ann, "three"))
        messages = pipe.until(lambda found: len(found) >= 3, naming(ann))
        assert [decode(message).follower_id for message in messages] == ["one", "two", "three"]
        told = {line["message"] for line in first.logged()}
        assert {"shard released"} <= told
        assert "shard taken" in {line["message"] for line in second.logged()}

    def test_poison_goes_to_the_dead_letters_and_the_rest_passes(self, start, tap, table, table_prefix, somebody):
        """A row that somebody wrote by hand, without a time."""
        ann = somebody()
        pipe = tap("FollowChanged", "FollowChanged.dlq")
        bridge = start(TABLE_PREFIX=table_prefix).until_ready()
        table.put("followers", {"followee_id": {"S": ann}, "follower_id": {"S": "poison"}})
        table.put("followers", edge(ann, "bob"))
        messages = pipe.until(lambda found: len(found) >= 2, naming(ann))
        letter = next(message for message in messages if message.topic() == "FollowChanged.dlq")
        headers = dict(letter.headers())
        assert (headers["follower_id"], headers["reason"]) == (b"poison", b"followed_at is missing in NewImage")
        [line] = eventually(lambda: [line for line in bridge.logged() if line["message"] == "dead letter"])
        assert line["event_id"].encode() == headers["event_id"]

    def test_what_kafka_refuses_goes_to_the_dead_letters_and_the_rest_passes(
        self, start, tap, table, table_prefix, somebody
    ):
        """Refused with its page, and alone; then it is a letter, in its place, and nothing behind it was lost."""
        ann = somebody()
        ids = [str(uuid.uuid4().int % 10**18 + 10**18) for _ in range(3)]
        pipe = tap("TweetCreated", "TweetCreated.dlq")
        start(TABLE_PREFIX=table_prefix).until_ready()
        with largest_batch("TweetCreated", 100_000):
            for number, text in zip(ids, ["before", "x" * 120_000, "after"], strict=True):
                table.put("tweets", tweet(number, ann, text))
            messages = pipe.until(lambda found: len({m.headers()[0] for m in found}) >= 3, naming(*ids))
        by_id = {dict(m.headers())["tweet_id"].decode(): m for m in messages}
        assert [by_id[number].topic() for number in ids] == ["TweetCreated", "TweetCreated.dlq", "TweetCreated"]
        assert b"too large" in dict(by_id[ids[1]].headers())["reason"].lower()

    def test_when_one_of_two_is_killed_the_other_takes_over_within_the_lease_time(
        self, start, tap, table, new_tables, somebody
    ):
        """Each held its share before, and nothing is lost; what was not yet checkpointed is repeated."""
        prefix, ann = f"bridge-{uuid.uuid4().hex[:8]}-", somebody()
        new_tables(prefix)
        table = table.under(prefix)
        pipe = tap("FollowChanged")
        both = [start(TABLE_PREFIX=prefix, LEASE_SECONDS="4").until_ready() for _ in range(2)]
        eventually(lambda: all("cdc_bridge_leases_held 3.0" in bridge.get("/metrics")[1] for bridge in both))
        victim, other = sorted(both, key=lambda bridge: re.search(TWEETS_TIP, bridge.get("/metrics")[1]) is not None)
        table.put("followers", edge(ann, "one"))
        pipe.until(bool, naming(ann))
        victim.end(signal.SIGKILL)
        killed_at = time.monotonic()
        table.put("followers", edge(ann, "two"))
        messages = pipe.until(lambda found: decode(found[-1]).follower_id == "two", naming(ann))
        assert time.monotonic() - killed_at < 4 + 10  # and the time to read a page, on a machine that is busy
        assert list(dict.fromkeys(decode(message).follower_id for message in messages)) == ["one", "two"]
        eventually(lambda: "cdc_bridge_leases_held 6.0" in other.get("/metrics")[1])

    def test_a_table_made_again_waits_for_an_operator(self, start, tap, table, new_tables, dynamodb, somebody):
        """What was written between the two streams left no trace; once cleared, the new one is read from its start."""
        prefix, ann = f"bridge-{uuid.uuid4().hex[:8]}-", somebody()
        new_tables(prefix)
        table = table.under(prefix)
        pipe = tap("FollowChanged")
        bridge = start(TABLE_PREFIX=prefix).until_ready()
        table.put("followers", edge(ann, "one"))
        pipe.until(bool, naming(ann))
        dynamodb.delete_table(TableName=f"{prefix}followers")
        new_tables(prefix)
        table.put("followers", edge(ann, "two"))

        eventually(lambda: bridge.metric("cdc_bridge_gaps_open") == 1)
        assert bridge.ready()  # all bridges share the gap
        [gap] = [line for line in bridge.command("shards").splitlines() if "GAP stream: it follows" in line]
        assert [line for line in bridge.logged() if line["message"] == "gap" and line["kind"] == "stream"]
        assert "cleared" in bridge.command("clear", gap.split()[1])
        messages = pipe.until(lambda found: len(found) >= 2, naming(ann))
        assert [decode(message).follower_id for message in messages] == ["one", "two"]
        eventually(lambda: bridge.metric("cdc_bridge_gaps_open") == 0)

    def test_an_operator_lists_and_moves_shards(self, start, tap, table, table_prefix, somebody):
        """A shard that is read from its beginning again gives repeats, to an operator who said that they know."""
        ann = somebody()
        pipe = tap("FollowChanged")
        bridge = start(TABLE_PREFIX=table_prefix).until_ready()
        table.put("followers", edge(ann, "one"))
        pipe.until(bool, naming(ann))
        line = next(line for line in bridge.command("shards").splitlines() if line.startswith("followers  shardId"))
        shard = line.split()[1]
        assert "is released" in bridge.command("release", shard)
        assert "repeat it with --yes" in bridge.command("seek", shard, "TRIM_HORIZON")
        assert "published again" in bridge.command("seek", shard, "TRIM_HORIZON", "--yes")
        messages = pipe.until(lambda found: len(found) >= 2, naming(ann))
        assert {sequence(message) for message in messages} == {sequence(messages[0])}

    def test_whoever_reads_only_the_head_of_the_list_sees_no_error(self, table_prefix):
        """As in `python -m cdc_bridge shards | head -1`."""
        with subprocess.Popen(
            [sys.executable, "-m", "cdc_bridge", "shards"],
            env=os.environ | {"TABLE_PREFIX": table_prefix},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as child:
            child.stdout.close()
            assert (child.stderr.read(), child.wait()) == ("", 0)

    def test_tables_that_are_not_there_are_waited_for(self, start, new_tables):
        """Not ready and alive, with their names; ready when they come, without a restart."""
        prefix = f"bridge-{uuid.uuid4().hex[:8]}-"
        bridge = start(TABLE_PREFIX=prefix)
        eventually(lambda: f"{prefix}leases" in bridge.get("/readyz")[1])
        assert bridge.get("/readyz")[0] == 503
        assert bridge.get("/healthz")[0] == 200
        new_tables(prefix)
        bridge.until_ready()


def test_kafka_that_is_away_is_waited_for(start):
    """Alive, not ready, with one line that says for whom, and it can be stopped."""
    bridge = start(**NOBODY)
    eventually(lambda: "Kafka at 127.0.0.1:1 does not answer" in bridge.get("/readyz")[1])
    assert bridge.get("/readyz")[0] == 503
    assert bridge.get("/healthz")[0] == 200
    assert bridge.end() == 0
    [line] = bridge.logged()
    assert (line["message"], line["level"]) == ("not ready", "WARNING")
    assert "Kafka at 127.0.0.1:1 does not answer" in line["waiting_for"]


def test_a_command_needs_no_settings_but_those_of_dynamodb():
    """What it says at last is that DynamoDB does not answer."""
    child = subprocess.run(
        [sys.executable, "-m", "cdc_bridge", "shards"],
        env=AWS_NOWHERE,
        capture_output=True,
        text=True,
        check=False,
    )
    assert child.returncode == 1
    assert child.stderr.startswith("cdc-bridge: table leases: DynamoDB did not answer: Could not connect")


@pytest.mark.parametrize("verb", ["shards", "release", "clear", "seek"])
def test_every_command_explains_itself(verb):
    """Without any setting, and in more than its usage."""
    words = [sys.executable, "-m", "cdc_bridge", verb, "--help"]
    said = subprocess.run(words, env={}, capture_output=True, text=True, check=True).stdout  # noqa: S603
    assert said.startswith(f"usage: python -m cdc_bridge {verb}")
    assert "." in said.split("\n\n")[1]


def test_a_missing_variable_stops_the_start_with_its_name():
    """Before anything else happens."""
    child = subprocess.run([sys.executable, "-m", "cdc_bridge"], env={}, capture_output=True, text=True, check=False)
    assert child.returncode == 1
    assert "KAFKA_BOOTSTRAP_SERVERS is not set" in child.stderr
