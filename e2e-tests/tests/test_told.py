"""What people do, as other services hear of it: accounts, requests, blocks and mutes, each told once and in order."""

import os
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any

import pytest

from contracts import (
    TOPICS,
    BlockChanged,
    Event,
    FollowChanged,
    FollowRequestChanged,
    MuteChanged,
    Tombstone,
    TweetDeleted,
    UserChanged,
)
from contracts.registry import codec_for
from murmuration_testkit.people import Person
from murmuration_testkit.topics import Tap
from murmuration_testkit.waiting import eventually

ROUNDED_MS = 60_000
Told = Mapping[str, Sequence[Event | Tombstone]]


@pytest.fixture
def told() -> Iterator[Callable[[], Told]]:
    """Listen from now on; called, it returns what was told so far, by key."""
    codecs = {name: codec_for(TOPICS[name], os.environ["SCHEMA_REGISTRY_URL"]) for name in TOPICS}
    heard = defaultdict[str, list[Event | Tombstone]](list)

    def hear(message: Any) -> None:
        topic, key = TOPICS[message.topic()], message.key()
        headers = {name: text.decode() for name, text in message.headers()}
        value = message.value()
        heard[key.decode()].append(topic.tombstone(key, headers) if value is None else codecs[topic.name].decode(value))

    with closing(Tap(*TOPICS)) as tap:

        def listen() -> Told:
            for message in tap.read(0.05):
                hear(message)
            return heard

        yield listen


def test_an_account_is_told_from_its_first_name_to_its_end(told):
    """Counts too; its last state has no name, and a tombstone follows it."""
    ann, bob = Person("Ann").join(), Person("Bob").join()
    ann.follow(bob)
    eventually(bob.counts, (1, 0))
    bob.turn(private=True)
    bob.leave()
    eventually(lambda: any(isinstance(each, Tombstone) for each in told()[bob.user_id]))
    *states, gone = [each for each in told()[bob.user_id] if isinstance(each, UserChanged | Tombstone)]
    assert [(state.display_name, state.is_private, state.followers_count) for state in states] == [
        ("Bob", False, 0),
        ("Bob", False, 1),
        ("Bob", True, 1),
        (None, True, 1),
    ]
    versions = [state.version for state in states]
    assert versions == sorted(set(versions))
    assert (states[-1].deleted_at is None, gone.version) == (False, versions[-1])


def test_a_request_is_told_until_it_is_answered(told):
    """Whoever is asked can be notified of each."""
    alice, bob, carol = (Person(name).join() for name in ("Alice", "Bob", "Carol"))
    bob.turn(private=True)
    alice.follow(bob)
    carol.follow(bob)
    bob.decline(carol)
    bob.accept(alice)

    def requests():
        events = [each for each in told()[bob.user_id] if isinstance(each, FollowRequestChanged)]
        return [(event.follower_id, event.state) for event in events]

    expected = [(alice, "requested"), (carol, "requested"), (carol, "ended"), (alice, "accepted")]
    eventually(requests, [(person.user_id, state) for person, state in expected])


def test_a_block_and_a_mute_are_told_until_they_end(told):
    """Under the id of whoever wants it so."""
    alice, bob = Person("Alice").join(), Person("Bob").join()
    for method in ("PUT", "PUT", "DELETE"):
        for what in ("block", "mute"):
            alice.ask(method, f"/v1/users/{bob.user_id}/{what}")

    def holds(kind):
        return [
            (each.blocked_id, each.blocking) if kind is BlockChanged else (each.muted_id, each.muting)
            for each in told()[alice.user_id]
            if isinstance(each, kind)
        ]

    for kind in (BlockChanged, MuteChanged):
        eventually(lambda kind=kind: holds(kind), [(bob.user_id, True), (bob.user_id, False)])


def test_an_unfollow_and_a_deletion_have_the_time_of_the_streams_record(told):
    """An unfollow has no other. DynamoDB Local rounds it down to the minute."""
    began = time.time_ns() // 1_000_000 // ROUNDED_MS * ROUNDED_MS
    ann, bob = Person("Ann").join(), Person("Bob").join()
    ann.follow(bob)
    ann.unfollow(bob)
    tweet_id = ann.tweet("soon gone")
    ann.delete(tweet_id)

    def events():
        follows = [each for each in told()[bob.user_id] if isinstance(each, FollowChanged)]
        deletions = [each for each in told()[tweet_id] if isinstance(each, TweetDeleted)]
        return [*follows, *deletions]

    eventually(lambda: [each.occurred_at is None for each in events()], [False, True, False])
    assert all(began <= each.recorded_at <= time.time_ns() // 1_000_000 for each in events())
