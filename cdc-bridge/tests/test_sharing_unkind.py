"""Bridges share shards on an unkind AWS, with clocks hours apart, while rows move: one owner at a time, none unread."""

from collections import Counter
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cdc_bridge.dynamo_leases import LeaseTable
from cdc_bridge.leases import LeaseLostError
from cdc_bridge.lineage import Row, ShardKey, State
from cdc_bridge.sharing import Sharing
from cdc_bridge.translate import TABLES
from contracts.tables import MIGRATIONS
from murmuration_runtime.errors import StoreAwayError
from murmuration_testkit.unkind_aws import UnkindAws, Unkindness

ARN = "arn:aws:dynamodb:eu-central-1:1:table/followers/stream/1"
SHARDS = [f"shard-{n}" for n in range(4)]
LEASE_MS, ROUND_SECONDS, HOUR = 8_000, 2, 3_600
UNKIND = {
    Unkindness.CONFLICT: 0.1,
    Unkindness.ITEM_BY_ITEM: 0.2,
    Unkindness.INTERLEAVING: 0.1,
    Unkindness.LOST_ANSWER: 0.05,
    Unkindness.LATE_WRITE: 0.05,
    Unkindness.REPEATED_WRITE: 0.1,
    Unkindness.THROTTLING: 0.05,
    Unkindness.SHORT_PAGE: 0.1,
    Unkindness.HANG: 0.02,
}
occurred: Counter[Unkindness] = Counter()


class Bridge:
    """A process that renews, looks, takes and gives back, as the coordinator does."""

    def __init__(self, aws, name, ahead):
        self.clock = aws.process(ahead)
        self.leases = LeaseTable(aws.client("dynamodb"), "")
        self.sharing = Sharing(self.leases, name, TABLES, LEASE_MS, self.clock.ms, self.steady)
        self.held = {}

    def steady(self):
        return int(self.clock.monotonic() * 1000)

    def act(self):
        for shard, lease in list(self.held.items()):
            with suppress(StoreAwayError, LeaseLostError):
                lease.renew()
            if not lease.is_held(self.steady()):
                del self.held[shard]
        with suppress(StoreAwayError):
            rows = {ShardKey("followers", ARN, name): row for name, row in self.leases.rows(ARN).items()}
            moves = self.sharing.moves(rows, self.held)
            for shard in moves.give:
                with suppress(StoreAwayError, LeaseLostError):
                    self.held.pop(shard).release()
            for shard, row in moves.take.items():
                if lease := self.sharing.take(shard, row):
                    self.held[shard] = lease


def owners(bridges):
    """Return who may write, by shard."""
    return [
        shard.shard_id for bridge in bridges for shard, lease in bridge.held.items() if lease.is_held(bridge.steady())
    ]


@settings(max_examples=30, deadline=None, derandomize=True)
@given(
    seed=st.integers(0, 10**6),
    ahead=st.lists(st.sampled_from([-HOUR, 0, HOUR]), min_size=3, max_size=3),
    switched=st.integers(0, 15),
)
def test_one_owner_at_a_time_and_no_shard_stays_unread(seed, ahead, switched):
    """Whoever is killed is followed within a lease, wherever its clock was."""
    aws = UnkindAws(seed, UNKIND)
    with aws.kind():
        leases = LeaseTable(aws.client("dynamodb"), "")
        for name in SHARDS:
            leases.note(ARN, Row(name, State.LEFT, since=1))
    bridges = [Bridge(aws, f"bridge-{n}", seconds) for n, seconds in enumerate(ahead)]
    for round_ in range(20):
        if round_ == switched:
            migration = {MIGRATIONS.migration: {"S": MIGRATIONS.SPREAD_LEASES}, MIGRATIONS.switched_at: {"N": "1"}}
            with aws.kind():
                aws.client("dynamodb").put_item(TableName=MIGRATIONS.name, Item=migration)
        for bridge in bridges:
            bridge.act()
            assert max(Counter(owners(bridges)).values(), default=0) <= 1
        aws.sleep(ROUND_SECONDS)
    occurred.update(aws.occurred)
    bridges.pop(0)  # killed
    with aws.kind():
        for _ in range(LEASE_MS // 1000 // ROUND_SECONDS + 3):
            for bridge in bridges:
                bridge.act()
                assert max(Counter(owners(bridges)).values(), default=0) <= 1
            aws.sleep(ROUND_SECONDS)
        assert sorted(owners(bridges)) == SHARDS


def test_each_unkindness_really_occurred():
    if not occurred:
        pytest.fail("run this file as a whole")
    assert not UNKIND.keys() - {Unkindness.INTERLEAVING, Unkindness.ITEM_BY_ITEM} - occurred.keys()
