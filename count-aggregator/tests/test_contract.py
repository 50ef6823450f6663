"""The consumer's side of the contract: whatever FollowChanged may look like, its handler takes it."""

import pytest

from contracts import examples
from count_aggregator.counting import Counting
from count_aggregator.topic import TOPIC
from murmuration_worker.inbox import Inbox
from murmuration_worker.messages import Batch, Message

from .memory import MemoryLedger


def test_every_example_of_every_version_is_counted():
    """None becomes a dead letter."""
    versions = set()
    for example in examples.examples(TOPIC):
        ledger = MemoryLedger()
        inbox = Inbox(TOPIC, examples.codec(TOPIC), pytest.fail)
        arrivals = [*inbox.read([Message(TOPIC.name, 3, 0, b"key", example.value, [])])]
        Counting(ledger).apply(Batch(TOPIC.name, "topic-1", 3, arrivals))
        assert ledger.followers[example.event.followee_id] == example.event.change, example
        assert ledger.following[example.event.follower_id] == example.event.change, example
        assert ledger.places["FollowChanged/3"].topic_id == "topic-1"
        versions.add(example.version)
    assert versions == {version.number for version in TOPIC.versions}
