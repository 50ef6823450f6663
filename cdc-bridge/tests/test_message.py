"""Each record that says something gives one message: its event, or its dead letter."""

import json

import pytest

from cdc_bridge.lineage import ShardKey
from cdc_bridge.message import instead_of, messages_for
from contracts import TOPICS
from contracts.examples import codec

from .records import edge, record, tweet, user

CODECS = {name: codec(topic) for name, topic in TOPICS.items()}
FOLLOWERS = ShardKey("followers", "arn:stream", "shard-1")
TWEETS = ShardKey("tweets", "arn:stream", "shard-1")
USERS = ShardKey("users", "arn:stream", "shard-1")
LARGEST = TOPICS["TweetCreated"].max_message_bytes


def the_message(*change):
    """Return the one message that a record gives."""
    (message,) = messages_for(*change)
    return message


def test_an_event_lies_where_its_contract_says_and_says_who_it_is():
    """Partition by the contract's murmur2 of the key; the value decodes; the headers need no decoding."""
    topic = TOPICS["FollowChanged"]
    message = the_message(FOLLOWERS, record(None, edge("ann", "bob", 17), sequence=3), CODECS)
    event = CODECS["FollowChanged"].decode(message.value)
    assert (message.topic, message.key, message.partition) == ("FollowChanged", b"ann", topic.partition("ann"))
    assert (event.follower_id, event.source.shard_id, event.source.sequence_number) == ("bob", "shard-1", 3)
    assert message.headers == topic.headers(event)
    assert (message.occurred_at, message.refusal) == (17, None)


def test_a_record_that_concerns_nobody_gives_no_message():
    """The edge stood and still stands."""
    assert messages_for(FOLLOWERS, record(edge(followed_at=1), edge(followed_at=2)), CODECS) == []


def test_the_end_of_a_key_lies_behind_its_last_state_and_has_no_value():
    """In the same partition, with the same headers, so that whoever reads it knows of which version it is the end."""
    state, end = messages_for(USERS, record(user(version=3), user(version=4, deleted_at=9), sequence=5), CODECS)
    event = CODECS["UserChanged"].decode(state.value)
    assert (event.deleted_at, event.display_name, state.occurred_at) == (9, None, 9)
    assert end == state._replace(value=None, occurred_at=None)
    assert dict(end.headers) == {
        "event_id": b"event-5",
        "shard_id": b"shard-1",
        "sequence_number": b"5",
        "user_id": b"ann",
        "version": b"4",
    }
    assert TOPICS["UserChanged"].tombstone(end.key, {name: text.decode() for name, text in end.headers}).version == 4


def test_the_end_of_a_key_is_told_although_its_last_state_cannot_be():
    """The dead letter lies in the place of the state, and what is left of the account in Kafka goes all the same."""
    letter, end = messages_for(USERS, record(user(), user(deleted_at=9, followers_count=2**64)), CODECS)
    assert (letter.topic, end.topic, end.value) == ("UserChanged.dlq", "UserChanged", None)


def test_a_dead_letter_keeps_the_whole_record_and_names_whom_to_recount():
    """Reason, place and the row's key are headers, so that nobody has to parse what could not be parsed."""
    broken = record(None, {name: value for name, value in edge().items() if name != "followed_at"}, sequence=3)
    message = the_message(FOLLOWERS, broken, CODECS)
    assert (message.topic, message.partition) == ("FollowChanged.dlq", 0)
    assert json.loads(message.value) == broken
    assert dict(message.headers) == {
        "event_id": b"event-3",
        "shard_id": b"shard-1",
        "sequence_number": b"000000000000000000003",
        "followee_id": b"ann",
        "follower_id": b"bob",
        "table": b"followers",
        "stream_arn": b"arn:stream",
        "reason": b"followed_at is missing in NewImage",
    }


def test_what_the_codec_refuses_is_a_dead_letter_too():
    """DynamoDB's numbers are larger than Avro's long."""
    message = the_message(TWEETS, record(None, tweet(created_at=2**64)), CODECS)
    assert message.topic == "TweetCreated.dlq"
    assert message.refusal


W3C = f"00-{'a' * 32}-{'b' * 16}-01"
LATER = f"00-{'c' * 32}-{'d' * 16}-01"


@pytest.mark.parametrize(
    ("shard", "old", "new", "carried"),
    [
        (FOLLOWERS, None, edge() | {"traceparent": {"S": W3C}}, W3C),
        (FOLLOWERS, edge() | {"traceparent": {"S": W3C}}, None, None),
        (FOLLOWERS, None, edge(), None),
        (FOLLOWERS, None, edge() | {"traceparent": {"S": "nonsense"}}, None),
        (FOLLOWERS, None, edge() | {"traceparent": {"N": "1"}}, None),
        (TWEETS, None, tweet(traceparent=W3C), W3C),
        (TWEETS, tweet(traceparent=W3C), tweet(traceparent=LATER, deleted_at=5), LATER),
        (TWEETS, tweet(traceparent=W3C), tweet(traceparent=W3C, deleted_at=5), None),
        (TWEETS, tweet(traceparent=W3C), None, None),
    ],
)
def test_an_event_carries_the_trace_of_the_request_that_wrote_its_change(shard, old, new, carried):
    """As a header behind the contract's; what an earlier request left in the row is not this change's."""
    message = the_message(shard, record(old, new), CODECS)
    topic = TOPICS[message.topic]
    contract = topic.headers(CODECS[topic.name].decode(message.value))
    assert message.headers == [*contract, *([("traceparent", carried.encode())] if carried else [])]


class TestTooLarge:
    def test_an_event_that_its_topic_does_not_take_becomes_a_dead_letter_at_once(self):
        """It is never sent, so no producer ends for it."""
        message = the_message(TWEETS, record(None, tweet("1" * 19, text="x" * LARGEST)), CODECS)
        assert message.topic == "TweetCreated.dlq"
        assert message.refusal.startswith(f"the event is too large: {LARGEST // 1000}")

    def test_a_dead_letter_keeps_as_much_of_its_record_as_fits_and_says_so(self):
        """One that is refused for ever would hold up its shard for ever."""
        broken = record(None, tweet(text="x" * 2 * LARGEST, created_at="yesterday"), sequence=3)
        message = the_message(TWEETS, broken, CODECS)
        assert LARGEST - 200 < message.size <= LARGEST
        assert message.value == json.dumps(broken, ensure_ascii=False).encode()[: len(message.value)]
        headers = dict(message.headers)
        whole = len(json.dumps(broken))
        assert headers["truncated"] == f"{len(message.value)} of {whole} bytes".encode()
        assert headers["sequence_number"] == b"000000000000000000003"

    def test_a_reason_that_quotes_too_much_is_cut(self):
        """It is a header, too."""
        broken = record(None, tweet(created_at=LARGEST * "x"))
        message = the_message(TWEETS, broken, CODECS)
        assert message.size <= LARGEST

    def test_a_dead_letter_that_kafka_refuses_all_the_same_loses_its_record(self):
        """A broker may take less than the contract says."""
        broken = record(None, tweet(created_at="yesterday"))
        letter = instead_of(the_message(TWEETS, broken, CODECS), TWEETS, broken, "too large")
        assert letter.value == b""
        assert dict(letter.headers)["truncated"].startswith(b"0 of ")
