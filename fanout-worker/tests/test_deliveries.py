"""What each event does to the timelines, on stores in memory."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts import TOPICS, Source, TweetCreated, TweetDeleted, examples
from fanout_worker.deliveries import Deliveries
from fanout_worker.inbox import Inbox

from .conftest import follow, tweet
from .memory import Memory
from .test_inbox import Graveyard, Letter

OURS = [topic for topic in TOPICS.values() if "fanout-worker" in topic.consumers]


def deliver(memory, *events):
    Deliveries(memory, memory, now=lambda: 1_700_000_000_000, sleep=lambda _: None).deliver(events)


def test_a_tweet_reaches_its_author_and_every_warm_follower():
    """All pages of followers are written; whoever is cold stays cold."""
    memory = Memory()
    memory.follows["bob"] = [f"fan-{n}" for n in range(5)]
    for user in ("bob", "fan-0", "fan-4"):
        memory.lists[user] = ["0"]
    deliver(memory, tweet("1700000000000000001"))
    assert memory.lists["bob"] == memory.lists["fan-0"] == memory.lists["fan-4"] == ["1700000000000000001", "0"]
    assert memory.lists["fan-1"] == []


def test_a_tweet_is_remembered_before_its_followers_are_read():
    """A follow that the read missed finds the tweet among the author's recent ones."""
    memory = Memory()
    deliver(memory, tweet("1700000000000000001"))
    asked = [call[0] for call in memory.asked]
    assert asked.index("remember") < asked.index("pages")


def test_a_changed_follow_makes_the_followers_timeline_cold():
    """The next read rebuilds it from the table, which is right whatever the event said."""
    memory = Memory()
    memory.lists["alice"] = ["0"]
    deliver(memory, follow(1, "alice", "bob"))
    assert memory.lists["alice"] == []


@given(st.lists(st.booleans(), max_size=12))
def test_a_store_that_comes_and_goes_loses_nothing(faults):
    """Whatever fails in between, every event ends as if nothing had."""
    memory = Memory(faults)
    memory.follows["bob"] = ["fan-1", "fan-2", "fan-3"]
    memory.lists["fan-3"] = ["0"]
    gone = TweetDeleted("d", Source("s", 9), "1700000000000000001", "bob", None)
    deliver(memory, tweet("1700000000000000001"), tweet("1700000000000000002"), gone)
    assert memory.lists["fan-3"] == ["1700000000000000002", "1700000000000000001", "0"]
    assert memory.buried == {"1700000000000000001"}


def test_every_topic_that_lists_this_service_is_consumed():
    """The contract names three."""
    assert {topic.name for topic in OURS} == {"FollowChanged", "TweetCreated", "TweetDeleted"}


@pytest.mark.parametrize("topic", OURS, ids=lambda topic: topic.name)
def test_every_example_of_every_version_is_delivered(topic):
    """The consumer's side of the contract: whatever an event may look like, its handler takes it."""
    versions = set()
    for example in examples.examples(topic):
        graveyard, memory = Graveyard(), Memory()
        author = getattr(example.event, "author_id", "")
        memory.lists[author] = ["0"]
        deliver(memory, *Inbox(topic, examples.codec(topic), graveyard).read([Letter(example.value)]))
        assert not graveyard.buried, example
        if isinstance(example.event, TweetCreated):
            assert memory.lists[author] == [example.event.tweet_id, "0"], example
        elif isinstance(example.event, TweetDeleted):
            assert memory.buried == {example.event.tweet_id}, example
        else:
            assert ("cool", example.event.follower_id) in memory.asked, example
        versions.add(example.version)
    assert versions == {version.number for version in topic.versions}
