"""A dead letter is safe in Kafka, and is read until it was handled."""

import os
import uuid

import pytest
from confluent_kafka import Consumer

from murmuration_runtime.kafka import KafkaAwayError
from murmuration_testkit.waiting import eventually
from murmuration_worker.dead_letters import DeadLetters, unhandled_letters


@pytest.fixture
def server():
    return os.environ["KAFKA_BOOTSTRAP_SERVERS"]


@pytest.fixture
def service():
    """A service that nobody had before, which has handled whatever other tests left."""
    return f"test-{uuid.uuid4().hex}"


@pytest.mark.stack
def test_a_dead_letter_says_why_and_whence(server, topic, message):
    """The .dlq has the message as it came, with the reason and the place in its headers."""
    mark = uuid.uuid4().hex.encode()
    DeadLetters(server).send(topic, message(mark, offset=42), "the magic byte is 1")
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


@pytest.mark.stack
def test_letters_are_read_until_they_are_handled(server, topic, message, service):
    """A run that failed leaves them for the next; after one that did not, only what came since is read."""

    def read(*, handled=False):
        with unhandled_letters(server, topic, service) as letters:
            found = list(letters.read())
            if handled:
                letters.mark_handled()
        return found

    read(handled=True)
    send = DeadLetters(server).send
    send(topic, message(b"poison"), "poison")
    send(topic, message(b"poison", headers=[("followee_id", b"bob"), ("follower_id", b"")]), "poison")
    first, second = read()
    assert (first.ids, second.ids) == ({"followee_id": "bob", "follower_id": "alice"}, {"followee_id": "bob"})
    assert first.place.startswith(f"{topic.dlq}/0 offset ")
    assert read(handled=True) == [first, second]
    assert read() == []


def test_a_kafka_that_is_away_is_named(topic):
    """Whoever runs the command again knows when."""
    with pytest.raises(KafkaAwayError, match=r"127\.0\.0\.1:9.*FollowChanged\.dlq"):  # noqa: SIM117
        with unhandled_letters("127.0.0.1:9", topic, "test") as letters:
            list(letters.read())
