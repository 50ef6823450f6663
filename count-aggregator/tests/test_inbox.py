"""Messages to events; what breaks the contract is buried, never dropped."""

import os
import time
import uuid

import pytest
from confluent_kafka import Consumer

from contracts import TOPICS, Codec, UnknownSchemaError, examples
from contracts.registry import RegistryAwayError
from count_aggregator.counting import Counting
from count_aggregator.dead_letters import KafkaDeadLetters
from count_aggregator.inbox import UNKNOWN_SCHEMA_TRIES, Inbox
from count_aggregator.tally import Arrival

from .conftest import event
from .memory import Graveyard, Letter, MemoryLedger

TOPIC = TOPICS["FollowChanged"]
IDS = {version.number: version.number for version in TOPIC.versions}


def codec(fetch=None):
    return Codec(TOPIC, IDS, fetch or pytest.fail)


def test_every_example_of_every_version_is_counted():
    """The consumer's side of the contract: whatever FollowChanged may look like, its handler takes it."""
    versions = set()
    for example in examples.examples(TOPIC):
        graveyard, ledger = Graveyard(), MemoryLedger()
        read = Inbox(TOPIC, examples.codec(TOPIC), graveyard).read([Letter(example.value)])
        Counting(ledger, "topic-1").count("FollowChanged/3", [Arrival(*one) for one in read])
        assert not graveyard.buried, example
        assert ledger.followers[example.event.followee_id] == example.event.change, example
        assert ledger.following[example.event.follower_id] == example.event.change, example
        versions.add(example.version)
    assert versions == {version.number for version in TOPIC.versions}


def test_poison_is_buried_and_its_neighbours_are_read_in_order():
    """One bad message costs itself and nothing else."""
    graveyard = Graveyard()
    good = [Letter(codec().encode(event(n))) for n in (1, 2)]
    bad = Letter(b"\x01not avro")
    events = Inbox(TOPIC, codec(), graveyard).read([good[0], bad, good[1], Letter(None)])
    assert [one and one.source.sequence_number for _, one in events] == [1, None, 2, None]
    assert [letter.value for letter, _ in graveyard.buried] == [b"\x01not avro", None]
    assert "magic" in graveyard.buried[0][1]


def test_a_registry_that_is_away_is_waited_for():
    """A schema newer than this code is asked for until the registry answers; nothing is buried meanwhile."""
    answers = iter([RegistryAwayError("no route"), RegistryAwayError("no route")])
    pauses = []

    def fetch(_):
        for error in answers:
            raise error
        return TOPIC.latest.schema

    newer = codec().encode(event(5))
    newer = newer[:1] + (99).to_bytes(4, "big") + newer[5:]
    graveyard = Graveyard()
    inbox = Inbox(TOPIC, codec(fetch), graveyard, sleep=pauses.append)
    assert [one.source.sequence_number for _, one in inbox.read([Letter(newer)])] == [5]
    assert len(pauses) == 2
    assert not graveyard.buried


def test_a_schema_that_nobody_knows_is_buried_after_some_tries():
    """A registry may lag for a while, not for ever."""
    asked = []

    def fetch(schema_id):
        asked.append(schema_id)
        raise UnknownSchemaError("schema 99 is not known")

    graveyard = Graveyard()
    letter = Letter(b"\x00" + (99).to_bytes(4, "big") + b"x")
    assert list(Inbox(TOPIC, codec(fetch), graveyard, sleep=lambda _: None).read([letter])) == [(7, None)]
    assert len(asked) == UNKNOWN_SCHEMA_TRIES
    assert "99" in graveyard.buried[0][1]


@pytest.mark.stack
def test_a_dead_letter_says_why_and_whence():
    """The .dlq has the message as it came, with the reason and the place in its headers."""
    mark = uuid.uuid4().hex.encode()
    server = os.environ["KAFKA_BOOTSTRAP_SERVERS"]
    KafkaDeadLetters(server, TOPIC).bury(Letter(mark, offset=42), "the magic byte is 1")
    consumer = Consumer({"bootstrap.servers": server, "group.id": mark.decode(), "auto.offset.reset": "earliest"})
    consumer.subscribe([TOPIC.dlq])
    deadline = time.monotonic() + 30
    found = None
    while found is None and time.monotonic() < deadline:
        message = consumer.poll(1)
        if message and message.value() == mark:
            found = message
    consumer.close()
    assert found is not None
    assert found.key() == b"bob"
    headers = dict(found.headers())
    assert (headers["reason"], headers["topic"]) == (b"the magic byte is 1", b"FollowChanged")
    assert (headers["partition"], headers["offset"], headers["followee_id"]) == (b"3", b"42", b"bob")
