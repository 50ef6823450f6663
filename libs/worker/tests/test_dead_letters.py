"""A dead letter is safe in Kafka, and says why it is one."""

import os
import uuid

import pytest
from confluent_kafka import Consumer

from murmuration_runtime.kafka_connection import KafkaSettings
from murmuration_testkit.waiting import eventually
from murmuration_worker.dead_letters import DeadLetters


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
