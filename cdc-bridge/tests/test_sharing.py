"""Who lives is judged by what its rows do, never by what they say about time."""

from collections import Counter

import pytest

from cdc_bridge.expiry import Expiry
from cdc_bridge.lease_items import item_of
from cdc_bridge.lineage import Row, ShardKey, State
from cdc_bridge.sharing import Sharing
from cdc_bridge.translate import TABLES
from contracts.tables import LEASES, MIGRATIONS

from .memory import LEASE_MS, MemoryLeases, hold, take

NOW = 1_700_000_000_000
HOUR_MS = 3_600_000
SHARD = ShardKey("followers", "arn", "shard")


@pytest.fixture
def world():
    """A shard, and a bridge that looks at it as often as it likes."""

    class World:
        leases = MemoryLeases()
        steady = 0

        def look(self):
            rows = {ShardKey("followers", "arn", name): row for name, row in self.leases.rows("arn").items()}
            return self.us.moves(rows, {})

    world = World()
    world.us = Sharing(world.leases, "us", TABLES, LEASE_MS, lambda: NOW, lambda: world.steady)
    return world


@pytest.mark.parametrize("ahead", [0, HOUR_MS, -HOUR_MS])
def test_a_dead_owners_shard_is_taken_after_one_lease(world, ahead):
    """Wherever its clock was."""
    world.leases.live("dead", TABLES, NOW + ahead + LEASE_MS)
    take(world.leases, "arn", "shard", "dead", NOW + ahead)
    first = world.look()
    assert (dict(first.take), first.due_ms) == ({}, LEASE_MS)
    world.steady = LEASE_MS - 1
    assert dict(world.look().take) == {}
    world.steady = LEASE_MS
    [(shard, row)] = world.look().take.items()
    assert world.us.take(shard, row).lease.epoch == 2
    assert world.leases.rows("bridges").keys() == {"us"}


def test_an_owner_that_renews_keeps_its_shard(world):
    """Though its clock stands still, as long ago as you like."""
    held = hold(world.leases, "arn", "shard", lambda: 0, "other")
    for world.steady in range(0, 10 * LEASE_MS, LEASE_MS - 1):
        world.leases.live("other", TABLES, 0)
        held.renew()
        assert dict(world.look().take) == {}


def test_what_was_given_back_waits_for_nothing(world):
    hold(world.leases, "arn", "shard", lambda: NOW, "other").release()
    assert list(world.look().take) == [SHARD]


def test_what_is_ours_by_its_row_and_not_held_is_taken_again_at_once(world):
    """A renewal came too late, so its reader has ended; nobody else need be waited for."""
    take(world.leases, "arn", "shard", "us", NOW)
    assert list(world.look().take) == [SHARD]


def test_a_renewal_of_a_released_bridge_counts_too():
    """Up to 0.2.0 it writes no renewals, only until when it holds the lease."""
    expiry = Expiry(LEASE_MS)
    row = Row("shard", State.READING, owner="0.2.0", epoch=1, expires_at=1)
    assert expiry.look({"shard": row}, 0) == {"shard": LEASE_MS}
    assert expiry.look({"shard": row}, 5) == {"shard": LEASE_MS}
    row = Row("shard", State.READING, owner="0.2.0", epoch=1, expires_at=2)
    assert expiry.look({"shard": row}, 6) == {"shard": LEASE_MS + 6}
    assert expiry.look({}, 7) == {}
    assert expiry.look({"shard": row}, 8) == {"shard": LEASE_MS + 8}


@pytest.mark.parametrize("is_switched", [False, True])
def test_a_released_bridge_has_no_share_of_what_it_cannot_take(world, is_switched):
    """After the switch it takes no row that has moved, so half of all shards would stay nobody's while it lives."""
    arn = "arn:aws:dynamodb:::table/followers/stream/2026-11-19T00:00:00.000"
    rows = {ShardKey("followers", arn, f"shard-{n}"): Row(f"shard-{n}", State.OPENED) for n in range(4)}
    migration = {MIGRATIONS.migration: {"S": MIGRATIONS.SPREAD_LEASES}}
    if is_switched:
        migration[MIGRATIONS.switched_at] = {"N": "1"}
    dynamodb = world.leases._dynamodb  # noqa: SLF001
    dynamodb.put_item(TableName=MIGRATIONS.name, Item=migration)
    released = item_of("bridges", Row("0.2.0", State.READING, epoch=1, expires_at=NOW))
    del released[LEASES.renewals]  # it knows none
    dynamodb.put_item(TableName=LEASES.name, Item=released)
    world.leases.live("another of ours", TABLES, NOW)
    world.leases.rows(arn)
    moves = world.us.moves(rows, {})
    assert (len(moves.take), world.us.bridges) == (2 if is_switched else 1, 3)


def test_a_bridge_has_no_share_of_a_table_that_it_does_not_read(world):
    """One up to 0.3.0 knows followers and tweets only: beside it, we take whatever is left, and half of those."""
    rows = {
        ShardKey(table, f"arn of {table}", f"{table}-{n}"): Row(f"{table}-{n}", State.OPENED)
        for table in TABLES
        for n in range(2)
    }
    dynamodb = world.leases._dynamodb  # noqa: SLF001
    dynamodb.put_item(TableName=LEASES.name, Item=item_of("bridges", Row("0.3.0", State.READING, epoch=1, renewals=1)))
    taken = Counter(shard.table for shard in world.us.moves(rows, {}).take)
    assert taken["followers"] + taken["tweets"] == 2
    assert {table: taken[table] for table in TABLES if table not in ("followers", "tweets")} == {
        "blocks": 2,
        "follow_requests": 2,
        "mutes": 2,
        "users": 2,
    }
