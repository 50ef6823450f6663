"""Messages to events; what breaks the contract is sent to the dead letters, never dropped."""

import pytest

from contracts import TOPICS, Codec, FollowChanged, Source, Tombstone, UnknownSchemaError
from contracts.examples import codec as examples_codec
from contracts.examples import examples
from contracts.registry import RegistryAwayError
from murmuration_worker.inbox import UNKNOWN_SCHEMA_TRIES, Inbox

from .conftest import WRITTEN_MS


@pytest.fixture
def codec(topic):
    """Make a codec that fetches unknown schemas as it is told to."""
    ids = {version.number: version.number for version in topic.versions}
    return lambda fetch=pytest.fail: Codec(topic, ids, fetch)


@pytest.fixture
def encoded(codec):
    def encode(number):
        return codec().encode(FollowChanged(f"e-{number}", Source("shard", number), "alice", "bob", True, None))

    return encode


@pytest.fixture
def letters():
    return []


@pytest.fixture
def inbox(topic, codec, letters):
    """Make an inbox whose dead letters land in a list."""

    def make(fetch=pytest.fail, sleep=pytest.fail):
        return Inbox(topic, codec(fetch), lambda *letter: letters.append(letter), sleep)

    return make


def with_schema(value, schema_id):
    return value[:1] + schema_id.to_bytes(4, "big") + value[5:]


def test_poison_is_sent_to_the_dead_letters_and_its_neighbours_are_read_in_order(
    inbox, message, encoded, letters, topic
):
    """One bad message costs itself and nothing else."""
    bad, empty = message(b"\x01not avro", offset=8), message(None, offset=10)
    came = [*inbox().read([message(encoded(1)), bad, message(encoded(2), offset=9), empty])]
    assert [(offset, event and event.source.sequence_number, written) for offset, event, written in came] == [
        (7, 1, WRITTEN_MS),
        (8, None, WRITTEN_MS),
        (9, 2, WRITTEN_MS),
        (10, None, WRITTEN_MS),
    ]
    assert [letter[:2] for letter in letters] == [(topic, bad), (topic, empty)]
    assert "magic" in letters[0][2]


def test_the_end_of_a_key_comes_as_an_event_in_a_compacted_topic(message, letters):
    """A tombstone has no value; without a key it is a dead letter."""
    states = TOPICS["UserChanged"]
    last = examples(states)[0].event
    end = message(None, headers=states.headers(last))._replace(key=last.user_id.encode())
    inbox = Inbox(states, examples_codec(states), lambda *letter: letters.append(letter), pytest.fail)
    came = [*inbox.read([end, end._replace(key=None)])]
    assert [event for _, event, _ in came] == [Tombstone(last.event_id, last.source, last.user_id, last.version), None]
    assert [letter[2] for letter in letters] == ["UserChanged: a tombstone without a key"]


def test_a_dead_letter_is_sent_before_the_next_message_is_read(inbox, message, letters):
    """A process that dies in between has lost nothing."""
    read = inbox().read([message(b"\x01"), message(b"\x01")])
    next(read)
    assert len(letters) == 1


def test_a_registry_that_is_away_is_waited_for(inbox, message, encoded, letters, topic):
    """A schema newer than this code is asked for until the registry answers."""
    answers = iter([RegistryAwayError("no route"), RegistryAwayError("no route")])
    pauses = []

    def fetch(_):
        for error in answers:
            raise error
        return topic.latest.schema

    came = inbox(fetch, pauses.append).read([message(with_schema(encoded(5), 99))])
    assert [event.source.sequence_number for _, event, _ in came] == [5]
    assert len(pauses) == 2
    assert not letters


def test_a_schema_that_nobody_knows_is_a_dead_letter_after_some_tries(inbox, message, letters):
    """A registry may lag for a while, not for ever."""
    asked = []

    def fetch(schema_id):
        asked.append(schema_id)
        raise UnknownSchemaError("schema 99 is not known")

    came = inbox(fetch, lambda _: None).read([message(with_schema(b"\x00....x", 99))])
    assert [*came] == [(7, None, WRITTEN_MS)]
    assert len(asked) == UNKNOWN_SCHEMA_TRIES
    assert "99" in letters[0][2]
