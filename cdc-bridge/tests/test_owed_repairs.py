"""A gap of follows leads to a recount, one of accounts to a snapshot: a row says so before it is passed."""

from contextlib import nullcontext
from itertools import count
from types import SimpleNamespace

import pytest

from cdc_bridge.absences import APART_MS, LOOKS
from cdc_bridge.discovery import Discovery
from cdc_bridge.gaps import Policy, owe_repair
from cdc_bridge.lineage import Row, ShardKey, State
from cdc_bridge.orders import Orders
from cdc_bridge.pages import GapError
from cdc_bridge.shard_reader import ShardReader
from contracts.tables import LEASES

from .memory import AtOnce, MemoryLeases, MemoryShard, MemoryStreams, hold, run_in_time

ARN = "arn:followers"
NOW = 1_700_000_000_000
POLICIES = pytest.mark.parametrize("policy", list(Policy))


class Watched(MemoryLeases):
    """Leases that remember which recounts were owed when a gap was written."""

    def __init__(self):
        super().__init__()
        self.owed_before = []

    def owed(self):
        return [(row.shard_id, row.gap) for row in self.rows(LEASES.recounts()).values()]

    def overrule(self, stream_arn, was, becomes):
        self.owed_before.append(self.owed())
        return super().overrule(stream_arn, was, becomes)

    def save(self, lease, progress, until):
        if progress.gap:
            self.owed_before.append(self.owed())
        super().save(lease, progress, until)


@pytest.fixture
def leases():
    return Watched()


def discovery(leases, policy=Policy.CONTINUE, streams=None, topic_ids=dict, *, older_rows=False):
    streams = streams or MemoryStreams(MemoryShard("here"))
    steady = count(0, APART_MS).__next__  # two looks are far enough apart
    return Discovery(streams, leases, topic_ids, policy, State.LEFT, lambda *_: older_rows, lambda: NOW, steady)


@POLICIES
def test_of_a_shard_that_vanished(leases, policy):
    leases.note(LEASES.streams_of("followers"), Row(ARN, State.READING))
    leases.note(ARN, Row("gone", State.READING, position="7"))
    looker = discovery(leases, policy)
    for _ in range(LOOKS):
        looker.table("followers")
    ((name, gap),) = leases.owed()
    assert (name, leases.rows(ARN)["gone"].gap) == ("gone at 0", gap)
    assert leases.owed_before == [leases.owed()]


@POLICIES
def test_of_a_table_that_has_a_new_stream(leases, policy):
    leases.note(LEASES.streams_of("followers"), Row("an older stream", State.ENDED))
    discovery(leases, policy).table("followers")
    assert [name for name, _ in leases.owed()] == [f"{ARN} at {NOW}"]


@pytest.mark.parametrize(
    ("table", "name", "owed"),
    [
        ("followers", "shard", "recounts"),
        ("topics", "FollowChanged-2", "recounts"),
        ("users", "shard", "snapshots"),
        ("topics", "UserChanged.dlq", "snapshots"),
        ("blocks", "shard", None),
        ("topics", "MuteChanged", None),
    ],
)
def test_what_is_owed_goes_by_what_was_lost(leases, table, name, owed):
    owe_repair(leases, table, name, "lost", NOW)
    found = {of: [row.gap for row in leases.rows(of).values()] for of in ("recounts", "snapshots")}
    assert found == {of: ["lost"] if of == owed else [] for of in found}


@POLICIES
@pytest.mark.parametrize(("topic", "owed"), [("FollowChanged", 1), ("TweetCreated", 0)])
def test_of_a_topic_that_was_made_again(leases, policy, topic, owed):
    leases.note(LEASES.topics(), Row(topic, State.READING, position="id-1"))
    discovery(leases, policy, topic_ids=lambda: {topic: "id-2"}).topics()
    assert len(leases.owed()) == owed
    assert [len(before) for before in leases.owed_before] == [owed]


@POLICIES
def test_of_what_a_reader_finds_trimmed(leases, policy):
    class Trimmed:
        def read(self, _):
            if leases.owed_before:
                reader.stop()
            raise GapError("trimmed")

    world = SimpleNamespace(now=NOW)

    def clock():
        return world.now

    lease, shard = hold(leases, ARN, "shard", clock), ShardKey("followers", ARN, "shard")
    reader = ShardReader(shard, lease, {}, Trimmed, nullcontext, AtOnce(), policy, clock, clock)
    run_in_time(reader, world)
    assert [name for name, _ in leases.owed()] == [f"shard at {NOW}"]
    assert leases.owed_before[0] == leases.owed()


def test_of_rows_older_than_the_tables_stream(leases):
    """No event tells of them: to counts they are a gap."""
    discovery(leases, older_rows=True).table("followers")
    assert [name for name, _ in leases.owed()] == [f"{ARN} at {NOW}"]


@pytest.mark.parametrize(("order", "owed"), [("clear", 1), ("seek LATEST", 1), ("seek 9", 1), ("seek TRIM_HORIZON", 0)])
def test_of_what_an_operator_gives_up(leases, order, owed):
    """A gap that an older bridge found has no recount yet."""
    leases.note(LEASES.streams_of("followers"), Row(ARN, State.READING))
    leases.note(ARN, Row("shard", State.GAP, position="7", gap="lost"))
    orders, (verb, *to) = Orders(leases, ["followers"]), order.split()
    getattr(orders, verb)("shard", *to, NOW)
    assert len(leases.owed()) == owed
    assert [len(before) for before in leases.owed_before] == [owed]


def test_two_gaps_of_one_shard_are_two_rows(leases):
    """The second may come while the first is being recounted, and is not forgotten with it."""
    owe_repair(leases, "followers", "shard", "lost", NOW)
    owe_repair(leases, "followers", "shard", "lost again", NOW + 1)
    assert len(leases.owed()) == 2


def test_tweets_are_no_concern_of_counts(leases):
    owe_repair(leases, "tweets", "shard", "lost", NOW)
    assert leases.owed() == []
