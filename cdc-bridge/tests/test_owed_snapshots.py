"""A snapshot pays what was owed when it began, goes on where it was, and gives way to another."""

import pytest

from cdc_bridge import gaps
from cdc_bridge.dynamo_leases import LeaseTable
from cdc_bridge.gaps import owe_repair
from cdc_bridge.owed_snapshots import OvertakenError, OwedSnapshots
from murmuration_runtime.metrics import METRICS

from .memory import MemoryLeases

NOW = 1_700_000_000_000


@pytest.fixture(params=["memory", pytest.param("dynamodb", marks=pytest.mark.stack)])
def leases(request):
    if request.param == "memory":
        return MemoryLeases()
    return LeaseTable(request.getfixturevalue("dynamodb"), request.getfixturevalue("own_prefix"))


@pytest.fixture
def run(leases):
    return lambda: OwedSnapshots(leases, "users", lambda: NOW)


def owe(leases, number):
    owe_repair(leases, "users", "shard", f"lost {number}", NOW + number)


def owed(run):
    return sorted(row.gap for row in run.owed())


def test_it_pays_what_was_owed_when_it_began_and_no_more(leases, run):
    """What was missed while it ran may be of rows that it had told already."""
    owe(leases, 1)
    first = run()
    assert first.begin() is None
    owe(leases, 2)
    assert owed(first) == ["lost 1", "lost 2"]
    first.end()
    assert owed(first) == ["lost 2"]
    second = run()
    second.begin()
    second.end()
    assert (owed(second), second.is_under_way()) == ([], False)


def test_killed_it_goes_on_where_it_was_and_pays_no_more_than_before(leases, run):
    """The new one takes the old one's place."""
    owe(leases, 1)
    killed = run()
    killed.begin()
    killed.save("ann")
    owe(leases, 2)
    assert run().is_under_way()
    heir = run()
    assert heir.begin() == "ann"
    heir.save("bob")
    heir.end()
    assert owed(heir) == ["lost 2"]
    assert run().begin() is None


@pytest.mark.parametrize("late", [lambda it: it.save("zoe"), OwedSnapshots.end], ids=["a page", "the end"])
def test_of_two_at_once_one_ends(run, late):
    """What the other one has told is told, and what it has not is not skipped."""
    one, other = run(), run()
    one.begin()
    other.begin()
    one.save("ann")
    with pytest.raises(OvertakenError):
        late(other)
    one.save("bob")
    assert run().begin() == "bob"


def test_for_how_long_one_is_owed_is_measured(leases, run):
    """Until it is paid, not until it is begun."""

    def measured():
        gaps.measure_owed_snapshot(leases, NOW + 5_001)
        return METRICS.get_sample_value("cdc_bridge_snapshot_owed_seconds", {"table": "users"})

    assert measured() == 0
    owe(leases, 2)
    owe(leases, 1)
    first = run()
    first.begin()
    assert measured() == 5
    first.end()
    assert measured() == 0
