"""The consumer's side of the contract: whatever FollowChanged may look like, its handler takes it."""

from count_aggregator.counting import Counting
from count_aggregator.topic import TOPIC
from murmuration_worker.examples import PARTITION, example_batches

from .memory import MemoryLedger


def test_every_example_of_every_version_is_counted():
    """None becomes a dead letter."""
    versions = set()
    for example, batch in example_batches(TOPIC):
        ledger = MemoryLedger()
        Counting(ledger).apply(batch)
        assert ledger.followers[example.event.followee_id] == example.event.change, example
        assert ledger.following[example.event.follower_id] == example.event.change, example
        assert ledger.load(f"{TOPIC.name}/{PARTITION}").topic_id == batch.topic_id
        versions.add(example.version)
    assert versions == {version.number for version in TOPIC.versions}
