"""The contract test of another team in one call: whoever keeps the contract passes, and what others break is named."""

from dataclasses import replace

import pytest

from contracts import TOPICS, ContractError, FollowChanged, Source, Tombstone
from contracts.examples import codec, examples
from contracts.testing import assert_accepts_all, assert_produces, examples_of

FOLLOWS = "FollowChanged"


def follow(sequence=7, followee="alice", shard="s"):
    return FollowChanged("e", Source(shard, sequence), "bob", followee, following=True, occurred_at=1)


@pytest.mark.parametrize("given", ["event", "record", "value"])
def test_a_handler_gets_every_example_of_every_version(topic, given):
    """In the form that it takes."""
    got = []
    assert assert_accepts_all(got.append, topic.name, given=given) == len(got)
    assert got[: len(examples(topic))] == [getattr(example, given) for example in examples(topic)]


def test_a_handler_of_a_compacted_topic_gets_the_end_of_each_key():
    """As an event, or as the nothing that lies in Kafka."""
    states = [example.event for example in examples(TOPICS["UserChanged"])]
    got = []
    assert_accepts_all(got.append, "UserChanged")
    assert got[len(states) :] == [Tombstone(it.event_id, it.source, it.user_id, it.version) for it in states]
    got.clear()
    assert_accepts_all(got.append, "UserChanged", given="value")
    assert got[len(states) :] == [None] * len(states)


def test_what_a_handler_refuses_is_named(topic):
    """All of it, by version and name, with what the handler raised."""

    def handle(event):
        if not isinstance(event, Tombstone) and event.occurred_at is None:
            raise ValueError("when?")

    timeless = [it for it in examples(topic) if it.event.occurred_at is None]
    if not timeless:
        assert_accepts_all(handle, topic.name)
        return
    with pytest.raises(AssertionError) as failed:
        assert_accepts_all(handle, topic.name)
    head, *lines = str(failed.value).splitlines()
    assert head == f"{len(timeless)} of {len(examples_of(topic.name))} examples of {topic.name} are refused:"
    assert lines == [f"version {it.version}, {it.name!r}: ValueError: when?" for it in timeless]


def test_a_topic_that_there_is_not_is_refused_with_those_that_there_are():
    with pytest.raises(ContractError, match=r"there is no topic Liked: there are .*FollowChanged"):
        assert_accepts_all(print, "Liked")


def test_a_producer_that_keeps_the_contract_passes(topic):
    """With events, and with records."""
    events = [example.event for example in examples(topic)]
    ordered = sorted(events, key=lambda event: event.source.sequence_number)
    assert assert_produces(topic.name, iter(ordered)) == len(events)
    latest = [it for it in examples(topic) if it.version == topic.latest.number]
    records = sorted((it.record for it in latest), key=lambda it: int(it["source"]["sequence_number"]))
    assert assert_produces(topic.name, records) == len(records)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda: replace(follow(), follower_id=""), "event 2: FollowChanged has an empty id"),
        (lambda: replace(follow(), following=1), "event 2: FollowChanged.following is 1, not bool"),
        (lambda: examples(TOPICS["TweetDeleted"])[0].event, "event 2: FollowChanged cannot be made of TweetDeleted"),
        (lambda: {"event_id": "e"}, "event 2: FollowChanged is not of its schema: "),
        (
            lambda: examples(TOPICS[FOLLOWS])[0].record | {"colour": "blue"},
            "event 2: FollowChanged is not of its schema",
        ),
        (lambda: follow(6), "event 2: sequence number 6 of s comes after 7"),
    ],
)
def test_what_breaks_the_contract_is_named(wrong, said):
    """By its place among what was sent."""
    with pytest.raises(AssertionError) as failed:
        assert_produces(FOLLOWS, [follow(7), wrong()])
    head, line = str(failed.value).splitlines()
    assert head == "1 of 2 events break the contract of FollowChanged:"
    assert line.startswith(said)


def test_repeats_are_allowed_and_order_is_by_partition_and_shard():
    """As a bridge repeats a page; another shard or partition has an order of its own."""
    elsewhere = next(it for it in "abcdefgh" if TOPICS[FOLLOWS].partition(it) != TOPICS[FOLLOWS].partition("alice"))
    events = [follow(1), follow(2), follow(1), follow(2), follow(3), follow(1, shard="t"), follow(1, elsewhere)]
    assert assert_produces(FOLLOWS, events) == len(events)


def test_no_event_at_all_is_no_proof():
    with pytest.raises(AssertionError, match="there is no event of FollowChanged to look at"):
        assert_produces(FOLLOWS, [])


@pytest.mark.contract_examples("FollowChanged", "TweetDeleted")
def test_the_plugin_gives_each_example_to_a_test_of_its_own(contract_example, request):
    """Named by topic, version and example."""
    topic = TOPICS[type(contract_example.event).__name__]
    assert codec(topic).decode(contract_example.value) == contract_example.event
    assert f"[{topic.name} {contract_example.version}: {contract_example.name}]" in request.node.name
