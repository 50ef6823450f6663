"""A dead letter is safe in Kafka, and says why it is one."""

import os
import uuid

import pytest
from confluent_kafka import Consumer

from murmuration_runtime.errors import StoreRefusedError
from murmuration_runtime.kafka_connection import KafkaSettings
from murmuration_testkit.certificates import Authority
from murmuration_testkit.waiting import eventually
from murmuration_worker.dead_letters import DeadLetters, letter_for


@pytest.fixture
def server():
    return os.environ["KAFKA_BOOTSTRAP_SERVERS"]


@pytest.mark.stack
def test_a_dead_letter_says_why_and_whence(server, topic, message):
    """The .dlq has the message as it came, with the reason and the place in its headers."""
    mark = uuid.uuid4().hex.encode()
    DeadLetters(KafkaSettings(), "test").send(topic, message(mark, offset=42), "the magic byte is 1")
    consumer = Consumer({"bootstrap.servers": server, "group.id": mark.decode(), "auto.offset.reset": "earliest"})
    consumer.subscribe([topic.dlq])

    def found():
        letter = consumer.poll(1)
        return letter if letter and letter.value() == mark else None

    letter = eventually(found)
    consumer.close()
    assert letter.key() == b"bob"
    headers = dict(letter.headers())
    assert (headers["reason"], headers["topic"]) == (b"the magic byte is 1", b"FollowChanged")
    assert (headers["partition"], headers["offset"], headers["followee_id"]) == (b"3", b"42", b"bob")
    assert headers["odd"] is None
    assert headers["consumer"] == b"test"


@pytest.mark.parametrize("key", [b"bob", b"k" * 600_000])
@pytest.mark.parametrize("headers", [[("followee_id", b"bob")], [("followee_id", b"bob"), ("long", b"h" * 600_000)]])
@pytest.mark.parametrize("reason", ["the magic byte is 1", "ü" * 2_000_000])
def test_what_would_be_too_large_loses_its_end_and_says_so(topic, message, key, headers, reason):
    """A message of the topic's full size and what is said about it: else Kafka would refuse it for ever."""
    value = b"v" * 1_048_500
    letter = letter_for(topic, message(value, headers=headers)._replace(key=key), reason, "test")
    assert topic.max_message_bytes - 100 < letter.size <= topic.max_message_bytes
    assert value.startswith(letter.value)
    said = dict(letter.headers)
    assert said["truncated"] == f"{len(letter.value)} of {len(value)} bytes".encode()
    assert (said["followee_id"], said["consumer"], said["offset"]) == (b"bob", b"test", b"7")


@pytest.mark.parametrize("value", [None, b"", b"v" * 1_000_000])
def test_what_fits_stays_as_it_came(topic, message, value):
    letter = letter_for(topic, message(value), "why", "test")
    assert (letter.key, letter.value, letter.headers[:3]) == (b"bob", value, message(value).headers)
    assert "truncated" not in dict(letter.headers)


@pytest.mark.stack
def test_kafka_takes_a_letter_of_a_message_that_fills_its_topic(topic, message):
    """The default limit of librdkafka is below the topic's."""
    DeadLetters(KafkaSettings(), "test").send(topic, message(os.urandom(topic.max_message_bytes - 100)), "why")


def test_without_a_token_there_is_a_refusal_to_wait_for(no_issuer):
    """Its setting is named at once, rather than after librdkafka's ten seconds."""
    url = no_issuer.kafka_oauth_token_url
    with pytest.raises(StoreRefusedError, match=f"KAFKA_OAUTH_TOKEN_URL {url} does not answer.*check KAFKA_"):
        DeadLetters(no_issuer, "test")


def test_a_certificate_that_was_taken_away_is_a_refusal_to_wait_for(tmp_path):
    """It was there when the settings were read."""
    authority = Authority(tmp_path)
    kafka = KafkaSettings(
        kafka_bootstrap_servers="k:1", kafka_security_protocol="SSL", kafka_ssl_ca_file=str(authority.file)
    )
    authority.file.unlink()
    with pytest.raises(StoreRefusedError, match=r"ssl\.ca\.location failed.*check .*KAFKA_SSL_CA_FILE"):
        DeadLetters(kafka, "test")
