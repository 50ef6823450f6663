"""The topics' files: what they promise, and that a wrong one is refused by name."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from contracts import TOPICS, ContractError, FollowChanged, Source, Tombstone, TweetCreated
from contracts.topic import CLOCKS_MS, DATA, STREAM_RETENTION_MS, load

from .small_contracts import KNOCKED, RENT, RENTED

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture
def data(tmp_path):
    """A copy of the data, to be broken."""
    return shutil.copytree(DATA, tmp_path / "data")


@pytest.fixture
def rewrite(data):
    """Change FollowChanged.yaml in the copy."""
    path = data / "topics" / "FollowChanged.yaml"

    def change(**entries):
        entry = yaml.safe_load(path.read_text("utf-8")) | entries
        path.write_text(yaml.safe_dump({name: value for name, value in entry.items() if value is not None}))

    return change


def test_a_follow_lies_by_whom_it_is_about():
    """Key, partition and headers of FollowChanged."""
    topic = TOPICS["FollowChanged"]
    follow = FollowChanged("e1", Source("shard", 7), "bob", "зоя", following=True)
    assert topic.key(follow) == "зоя"
    assert topic.headers(follow) == [
        ("event_id", b"e1"),
        ("shard_id", b"shard"),
        ("sequence_number", b"7"),
        ("followee_id", "зоя".encode()),
        ("follower_id", b"bob"),
    ]


def test_a_tweet_lies_by_its_id():
    """Key, partition and headers of TweetCreated."""
    topic = TOPICS["TweetCreated"]
    tweet = TweetCreated("e2", Source("shard", 8), "1990796418048000001", "alice", "hi", 1)
    assert topic.key(tweet) == "1990796418048000001"
    assert topic.headers(tweet) == [
        ("event_id", b"e2"),
        ("shard_id", b"shard"),
        ("sequence_number", b"8"),
        ("tweet_id", b"1990796418048000001"),
        ("author_id", b"alice"),
    ]


def test_every_topic_has_owners_that_exist(topic):
    """Producers and consumers are services of this repository."""
    for service in (*topic.producers, *topic.consumers):
        assert (REPOSITORY / service / "pyproject.toml").is_file(), service


def test_a_released_schema_cannot_change(data, topic):
    """Not by a space: the fingerprint in the topic's file is that of the file's bytes."""
    path = data / "avro" / topic.latest.schema_file
    path.write_bytes(path.read_bytes() + b" ")
    with pytest.raises(ContractError, match=f"{path.name} is .* a released schema never changes, add a version"):
        load(data)


@pytest.mark.parametrize(
    ("entries", "named"),
    [
        ({"key": None}, "KeyError: 'key'"),
        ({"partitions": 18, "grown_from": [12]}, "18 partitions, grown from (12,): each must be"),
        ({"grown_from": [12]}, "12 partitions, grown from"),
        ({"retention_days": None}, "retention_days"),
        ({"colour": "blue"}, "colour"),
        ({"partitioner": "crc32"}, "crc32"),
        ({"compatibility": "BACKWARD"}, "BACKWARD"),
        ({"retention_days": 4}, "longer than the outage"),
        ({"segment_days": 0}, "segment_days"),
        ({"max_message_bytes": None}, "max_message_bytes"),
        ({"outage_to_survive": {"days": 1}}, "which"),
        ({"cleanup": "shred"}, "cleanup shred is neither delete nor compact"),
        (
            {"cleanup": "compact"},
            "a compacted topic's headers have event_id, source.sequence_number, source.shard_id, version",
        ),
        ({"producers": []}, "must not be empty"),
        ({"versions": []}, "must not be empty"),
        ({"versions": [{"schema": "x.avsc", "sha256": "", "examples": "x.json"}]}, "x.avsc"),
    ],
)
def test_a_wrong_file_is_refused_by_name(data, rewrite, entries, named):
    """The error names the file and what is wrong with it."""
    rewrite(**entries)
    with pytest.raises(ContractError, match=r"FollowChanged\.yaml") as refused:
        load(data)
    assert named in str(refused.value)


def test_a_topic_without_a_class_is_refused(data):
    """Somebody has to give its events a shape."""
    (data / "topics" / "FollowChanged.yaml").rename(data / "topics" / "Liked.yaml")
    with pytest.raises(ContractError, match=r"Liked\.yaml: contracts\.events has no class Liked"):
        load(data)


def test_the_untouched_copy_loads(data, rewrite):
    """So that the refusals above are about what was broken."""
    rewrite()
    assert load(data) == TOPICS


def test_another_number_of_partitions_is_refused(topic):
    """Each key would lie in two partitions in its life."""
    topic.check(topic.partitions)
    with pytest.raises(ContractError, match=f"{topic.name} has 7 partitions where .* says {topic.partitions}:"):
        topic.check(7)


def test_a_topic_that_nobody_here_reads_says_so(rewrite, data):
    """It is for services that are not built yet, or for other teams."""
    assert KNOCKED.hits == "hits butler, cook"
    rewrite(consumers=[])
    assert load(data)["FollowChanged"].hits == "hits nobody here"


def test_what_was_counted_is_remembered_as_long_as_a_copy_may_come():
    """Made on the stream's last day, read on Kafka's last; and an event is too old before it can be forgotten."""
    topic = TOPICS["FollowChanged"]
    assert topic.readable_ms == topic.retention_ms + topic.segment_ms
    assert topic.readable_ms < topic.too_old_ms < topic.remembered_ms - STREAM_RETENTION_MS
    assert topic.remembered_ms == topic.readable_ms + STREAM_RETENTION_MS + CLOCKS_MS


@pytest.mark.parametrize("ask", ["readable_ms", "remembered_ms", "too_old_ms"])
def test_no_watermark_outlives_a_compacted_topic(ask):
    """What it has may be as old as can be: a consumer goes by the states' own versions."""
    assert RENTED.is_compacted
    with pytest.raises(ContractError, match=r"Rented is compacted: .* order states by their version"):
        getattr(RENTED, ask)


def test_the_end_of_a_key_in_a_compacted_topic_is_read_from_its_headers():
    """They are those of its last state."""
    headers = {name: value.decode() for name, value in RENTED.headers(RENT)}
    assert RENTED.tombstone(b"alice", headers) == Tombstone("e", Source("s", 7), "alice", 3)


@pytest.mark.parametrize(
    ("topic", "key", "change", "said"),
    [
        (KNOCKED, b"alice", {}, "Knocked: no value"),
        (RENTED, None, {}, "Rented: a tombstone without a key"),
        (RENTED, b"\xff", {}, "Rented: no tombstone: UnicodeDecodeError"),
        (RENTED, b"alice", {"version": None}, "Rented: no tombstone: KeyError: 'version'"),
        (RENTED, b"alice", {"sequence_number": "-"}, "Rented: no tombstone: ValueError"),
    ],
)
def test_a_message_without_a_value_that_is_no_tombstone_is_refused(topic, key, change, said):
    """In a topic that has none, without a key, or without the headers that say where it comes from."""
    headers = {name: value.decode() for name, value in RENTED.headers(RENT)} | change
    with pytest.raises(ContractError, match=said):
        topic.tombstone(key, {name: value for name, value in headers.items() if value is not None})


@given(st.text(), st.sampled_from([24, 48]))
def test_what_lay_in_one_partition_of_a_grown_topic_lay_in_one_before(key, partitions):
    """So what a consumer knows of the old partition holds for the new one."""
    old = TOPICS["FollowChanged"]
    grown = replace(old, name="FollowChanged-2", partitions=partitions, grown_from=(old.partitions,))
    assert grown.ancestors(grown.partition(key)) == [("FollowChanged", old.partition(key))]


def test_a_topic_that_grew_is_a_new_one_in_kafka(data, rewrite):
    """Topic, dead letters and subject have names of their own; nothing of the old one is touched."""
    rewrite(partitions=48, grown_from=[12, 24])
    topic = load(data)["FollowChanged"]
    assert (topic.name, topic.dlq, topic.subject) == ("FollowChanged-3", "FollowChanged-3.dlq", "FollowChanged-3-value")
    assert topic.ancestors(47) == [("FollowChanged", 11), ("FollowChanged-2", 23)]
