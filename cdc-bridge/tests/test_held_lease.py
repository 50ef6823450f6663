"""A lease that this process holds: one write a round, and none after it is over."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from cdc_bridge.held_lease import HeldLease
from cdc_bridge.leases import LeaseLostError
from cdc_bridge.lineage import Row, State
from murmuration_runtime.errors import StoreAwayError

from .memory import LEASE_MS, MemoryLeases, hold, take

NOW = 1_700_000_000_000


class Slow(MemoryLeases):
    """A table whose writes take their time, are counted and may fail."""

    def __init__(self, world):
        super().__init__()
        self._world = world
        self.writes = 0
        self.takes_ms = 0
        self.failure = None

    def save(self, lease, progress, until):
        self._world.steady += self.takes_ms
        if self.failure:
            raise self.failure
        self.writes += 1
        super().save(lease, progress, until)


@pytest.fixture
def world():
    """One shard, taken at 0 of the steady clock."""
    world = SimpleNamespace(steady=0, wall=NOW)
    world.leases = Slow(world)
    world.leases.note("arn", Row("shard", State.OPENED, since=NOW, tip_at=NOW))
    lease = take(world.leases, "arn", "shard", "me", NOW)
    world.held = HeldLease(world.leases, lease, LEASE_MS, 0, lambda: world.wall, lambda: world.steady)
    world.row = lambda: world.leases.rows("arn")["shard"]
    return world


def test_a_renewal_counts_from_when_it_was_sent(world):
    """Whatever the answer takes: others count from when the write was done, and that is not earlier."""
    world.steady, world.leases.takes_ms = 4_000, 3_000
    world.held.renew()
    assert world.held.is_held(4_000 + LEASE_MS - 1)
    assert not world.held.is_held(4_000 + LEASE_MS)


def test_a_failed_renewal_keeps_nothing(world):
    """The lease runs out as if it had not been tried."""
    world.steady, world.leases.failure = 4_000, StoreAwayError("away")
    with pytest.raises(StoreAwayError):
        world.held.renew()
    assert world.held.is_held(LEASE_MS - 1)
    assert not world.held.is_held(LEASE_MS)


@pytest.mark.parametrize(("begins", "takes"), [(LEASE_MS, 0), (LEASE_MS - 1, 1)])
def test_a_lease_that_ran_out_never_comes_back(world, begins, takes):
    """Its reader may have seen that, and ended: nobody would read the shard that we kept."""
    world.steady, world.leases.takes_ms = begins, takes
    with pytest.raises(LeaseLostError):
        world.held.renew()
    world.steady = 0
    assert world.held.is_held(LEASE_MS - 1) is (takes == 0)  # a clock that went back is no steady clock


def test_what_is_remembered_is_written_with_the_renewal(world):
    """A thousand pages and tips are one write."""
    for n in range(1, 1001):
        world.held.checkpoint(str(n))
        world.held.note_tip(NOW + n)
    assert (world.leases.writes, world.row().position) == (0, None)
    world.held.renew()
    assert world.leases.writes == 1
    assert (world.row().position, world.row().state, world.row().tip_at) == ("1000", State.READING, NOW + 1000)


@pytest.mark.parametrize(
    ("give_back", "state"),
    [
        (HeldLease.finish, State.ENDED),
        (HeldLease.release, State.READING),
        (lambda held: held.fail("lost"), State.GAP),
    ],
)
def test_a_clean_end_writes_what_is_remembered_and_waits_for_nobody(world, give_back, state):
    """The next owner repeats nothing; whoever gave it back holds it no more."""
    world.held.checkpoint("7")
    world.held.note_tip(NOW + 7)
    give_back(world.held)
    row = world.row()
    assert (row.state, row.position, row.tip_at, row.owner) == (state, "7", NOW + 7, None)
    assert not world.held.is_held(0)
    with pytest.raises(LeaseLostError):
        world.held.renew()


def test_behind_a_gap_the_position_is_gone_and_the_gap_stays(world):
    """What is left is read from its beginning; later renewals do not forget the gap."""
    world.held.checkpoint("7")
    world.wall += 1000
    world.held.go_on("lost")
    world.held.renew()
    row = world.row()
    assert (row.state, row.position, row.since, row.gap) == (State.LEFT, None, NOW + 1000, "lost")
    assert world.held.is_held(0)


def test_whoever_lost_it_learns_so_at_once(world):
    """An operator's order ends it at the next write."""
    was = world.row()
    assert world.leases.overrule("arn", was, was)
    with pytest.raises(LeaseLostError):
        world.held.renew()
    assert not world.held.is_held(0)


def test_no_order_wipes_out_a_gap_that_it_has_not_seen():
    """Of a shard that was never begun nothing else changes when reading goes on behind a gap."""
    leases = MemoryLeases()
    leases.note("arn", Row("shard", State.LEFT, since=1))
    held = hold(leases, "arn", "shard", lambda: 2)
    seen = leases.rows("arn")["shard"]
    held.go_on("lost")
    assert not leases.overrule("arn", seen, seen)
    assert leases.rows("arn")["shard"].gap == "lost"
    now = leases.rows("arn")["shard"]
    assert leases.overrule("arn", now, replace(now, gap=None))


def test_what_was_shown_is_written_with_the_next_renewal_and_outlives_the_owner(world):
    """It never moves backwards, and whoever takes the shard next has said nothing yet."""
    for until in (NOW + 5, NOW + 3):
        world.held.note_shown(until)
    assert world.row().shown_until == 0
    world.held.renew()
    assert world.row().shown_until == NOW + 5
    world.held.release()
    hold(world.leases, "arn", "shard", lambda: NOW, owner="another").renew()
    assert world.row().shown_until == NOW + 5
