"""A dead letter is open for each service that it concerns, until that one has settled it."""

import argparse
import json
import os
import uuid

import pytest
from confluent_kafka import Producer

from murmuration_runtime.kafka import KafkaAwayError
from murmuration_runtime.kafka_connection import KafkaSettings
from murmuration_worker import letter_commands
from murmuration_worker.dead_letters import DeadLetters
from murmuration_worker.letters import METADATA_BYTES, Letters, TooManyHolesError, open_letters


@pytest.fixture
def server():
    return os.environ["KAFKA_BOOTSTRAP_SERVERS"]


@pytest.fixture
def service(topic):
    """A service that nobody had before, which has settled whatever other tests left."""
    name = f"test-{uuid.uuid4().hex}"
    with open_letters(KafkaSettings(), topic, name) as letters:
        letters.settle(letters.open())
    return name


@pytest.fixture
def send(topic, message, service):
    """Send a letter of this service, or of another."""

    def sent(value, *, consumer=service, **more):
        DeadLetters(KafkaSettings(), consumer).send(topic, message(value, **more), "the magic byte is 1")

    return sent


@pytest.fixture
def command(topic, service, capsys):
    """Run one command; return its exit code, its lines of JSON, and its errors."""

    def run(*words, handle=list):
        parser = argparse.ArgumentParser()
        letter_commands.add_to(parser.add_subparsers(), "try again")
        asked = parser.parse_args(["dead-letters", *words])
        code = letter_commands.run(asked, KafkaSettings(), service, [topic], handle)
        said = capsys.readouterr()
        return code, [json.loads(line) for line in said.out.splitlines()], said.err

    return run


@pytest.mark.stack
class TestLetters:
    def test_a_letter_is_listed_and_shown_with_its_reason_and_whom_it_names(self, send, command):
        """What an operator needs before deciding: in short of each, in full of one."""
        send(b"\x01poison")
        code, [line], _ = command("list")
        assert (code, line["reason"], line["ids"]) == (
            0,
            "the magic byte is 1",
            {"followee_id": "bob", "follower_id": "alice"},
        )
        _, [shown], _ = command("show", line["place"])
        assert (shown["key"], shown["value"], shown["headers"]["topic"]) == ("bob", "\x01poison", "FollowChanged")

    def test_bytes_that_are_no_text_are_shown_as_base64(self, send, command):
        """Avro rarely is text."""
        send(b"\xff\x00")
        _, [line], _ = command("list")
        assert command("show", line["place"])[1][0]["value"] == "base64:/wA="

    def test_letters_are_settled_in_any_order_and_only_once(self, send, command):
        """A hole between settled letters stays open, over many commands and new letters."""
        for value in (b"1", b"2", b"3"):
            send(value)
        places = [line["place"] for line in command("list")[1]]
        assert command("drop", places[1])[0] == 0
        assert [line["place"] for line in command("list")[1]] == [places[0], places[2]]
        send(b"4")
        assert command("handle", places[2])[0] == 0
        [first, last] = [line["place"] for line in command("list")[1]]
        assert first == places[0]
        assert command("drop", first)[0] == 0
        assert [line["place"] for line in command("list")[1]] == [last]
        assert command("handle")[0] == 0
        assert command("list") == (0, [], "")

    def test_what_could_not_be_handled_stays_open(self, send, command):
        """And the command says so by its exit code."""
        send(b"1")
        send(b"2")
        assert command("handle", handle=lambda letters: letters[1:])[0] == 1
        assert [line["ids"] for line in command("list")[1]] == [{"followee_id": "bob", "follower_id": "alice"}]

    def test_another_services_letter_is_not_ours_and_the_bridges_is(self, send, command, server, topic):
        """One garbage message is a letter for each consumer, and each handles its own; the bridge's concerns all."""
        send(b"ours")
        send(b"theirs", consumer="another-service")
        produce_as_the_bridge(server, topic)
        values = [command("show", line["place"])[1][0]["value"] for line in command("list")[1]]
        assert values == ["ours", "the bridge's"]
        command("handle")
        assert command("list")[1] == []

    def test_a_place_without_an_open_letter_is_an_error(self, send, command):
        """Nothing is done then, to no letter."""
        send(b"1")
        code, _, said = command("drop", f"{command('list')[1][0]['place']}9")
        assert (code, "has no open letter at" in said, len(command("list")[1])) == (1, True, 1)


def produce_as_the_bridge(server, topic):
    producer = Producer({"bootstrap.servers": server})
    producer.produce(topic.dlq, b"the bridge's", headers=[("reason", b"no author_id")])
    producer.flush()


class Committed:
    """A consumer that commits to nowhere."""

    def commit(self, **_):
        raise AssertionError("this must not be reached")


def test_more_holes_than_kafka_remembers_are_an_error(topic):
    """What was settled must not be forgotten in silence."""
    letters = Letters(Committed(), KafkaSettings(kafka_bootstrap_servers="unused"), topic, "test")
    letters._open, letters._ends = {0: set(range(0, METADATA_BYTES, 2))}, {0: METADATA_BYTES}  # noqa: SLF001 - the case
    with pytest.raises(TooManyHolesError, match=f"{topic.dlq}/0/0"):
        letters.settle([])


def test_a_kafka_that_is_away_is_named(topic):
    """Whoever runs the command again knows when."""
    with pytest.raises(KafkaAwayError, match=r"127\.0\.0\.1:9.*FollowChanged\.dlq"):  # noqa: SIM117
        with open_letters(KafkaSettings(kafka_bootstrap_servers="127.0.0.1:9"), topic, "test") as letters:
            letters.open()
