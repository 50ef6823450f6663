"""One owner at a time, and nothing that an owner of the past can write. The same promises in memory and in DynamoDB."""

import uuid

import pytest

from cdc_bridge.dynamo_leases import LeaseTable
from cdc_bridge.leases import LeaseLostError, Progress
from cdc_bridge.lineage import State

from .memory import LEASE_MS, MemoryLeases

NOW = 1_700_000_000_000
SINCE = NOW - 5
NINE, TEN, LONGER = "900000000000000000009", "900000000000000000010", "1000000000000000000000"


@pytest.fixture(params=["memory", pytest.param("dynamodb", marks=pytest.mark.stack)])
def leases(request):
    if request.param == "memory":
        return MemoryLeases()
    return LeaseTable(request.getfixturevalue("dynamodb"), request.getfixturevalue("table_prefix"), LEASE_MS)


@pytest.fixture
def arn():
    """A stream that nobody has leases on."""
    return f"arn:{uuid.uuid4()}"


class TestLeases:
    def test_a_free_shard_is_taken_once(self, leases, arn):
        """The first gets it with nothing read, the second gets nothing."""
        lease = leases.take(arn, "shard", "a", NOW, SINCE)
        assert (lease.owner, lease.epoch, lease.position) == ("a", 1, None)
        assert leases.take(arn, "shard", "b", NOW + LEASE_MS - 1, SINCE) is None
        assert leases.rows(arn)["shard"].state is State.OPENED

    def test_an_expired_lease_is_taken_with_its_position(self, leases, arn):
        """The new owner goes on where the old one's checkpoint stands."""
        leases.checkpoint(leases.take(arn, "shard", "a", NOW, SINCE), TEN)
        lease = leases.take(arn, "shard", "b", NOW + LEASE_MS, SINCE)
        assert (lease.owner, lease.epoch, lease.position) == ("b", 2, TEN)
        assert leases.rows(arn)["shard"].state is State.READING

    def test_a_renewed_lease_is_kept(self, leases, arn):
        """Renewal counts from when it is done."""
        lease = leases.take(arn, "shard", "a", NOW, SINCE)
        assert leases.renew(lease, NOW + 5, NOW) == NOW + 5 + LEASE_MS
        assert leases.take(arn, "shard", "b", NOW + LEASE_MS, SINCE) is None

    @pytest.mark.parametrize("write", ["save", "renew", "checkpoint", "opened", "finish", "release", "fail", "go_on"])
    def test_whoever_lost_the_lease_writes_nothing(self, leases, arn, write):
        """Not even under its own name: the epoch has moved on."""
        lost = leases.take(arn, "shard", "a", NOW, SINCE)
        leases.checkpoint(leases.take(arn, "shard", "a", NOW + LEASE_MS, SINCE), TEN)
        before = leases.rows(arn)
        arguments = {
            "save": [Progress(State.READING, LONGER, SINCE, NOW), NOW + LEASE_MS],
            "renew": [NOW, NOW],
            "checkpoint": [LONGER],
            "opened": [NOW],
            "finish": [NOW],
            "fail": ["gap"],
            "go_on": ["gap", NOW],
        }
        with pytest.raises(LeaseLostError):
            getattr(leases, write)(lost, *arguments.get(write, []))
        assert leases.rows(arn) == before

    def test_a_checkpoint_never_goes_back(self, leases, arn):
        """Compared as numbers of any length; as text, 1000… would lie before 9."""
        lease = leases.take(arn, "shard", "a", NOW, SINCE)
        for position in (NINE, TEN, TEN, LONGER):
            leases.checkpoint(lease, position)
        for position in (TEN, NINE):
            with pytest.raises(LeaseLostError):
                leases.checkpoint(lease, position)
        assert leases.rows(arn)["shard"].position == LONGER

    def test_all_that_an_owner_remembers_is_one_write(self, leases, arn):
        """With the lease kept or given back; a gap that it does not name stays, and a position that it left goes."""
        lease = leases.take(arn, "shard", "a", NOW, SINCE)
        leases.save(lease, Progress(State.LEFT, None, NOW, NOW, gap="lost"), NOW + LEASE_MS)
        leases.save(lease, Progress(State.READING, NINE, NOW, NOW + 1), NOW + LEASE_MS + 1)
        row = leases.rows(arn)["shard"]
        assert (row.state, row.position, row.since, row.tip_at) == (State.READING, NINE, NOW, NOW + 1)
        assert (row.owner, row.epoch, row.expires_at, row.gap) == ("a", 1, NOW + LEASE_MS + 1, "lost")
        leases.save(lease, Progress(State.LEFT, None, NOW, NOW + 1), None)
        row = leases.rows(arn)["shard"]
        assert (row.state, row.position, row.owner, row.expires_at) == (State.LEFT, None, None, 0)

    def test_a_released_shard_is_free_at_once(self, leases, arn):
        """Nobody waits for it to expire."""
        leases.release(leases.take(arn, "shard", "a", NOW, SINCE))
        assert leases.take(arn, "shard", "b", NOW, SINCE).epoch == 2

    def test_a_finished_shard_is_taken_by_nobody(self, leases, arn):
        """It stays known, so that its children may go."""
        leases.finish(leases.take(arn, "shard", "a", NOW, SINCE), NOW)
        assert leases.take(arn, "shard", "b", NOW + 2 * LEASE_MS, SINCE) is None
        assert leases.rows(arn)["shard"].state is State.ENDED

    def test_streams_are_apart(self, leases, arn):
        """A re-created table has a new stream; what an old one had under the same shard's name is not its own."""
        leases.checkpoint(leases.take(arn, "shard", "a", NOW, SINCE), TEN)
        assert leases.take(arn + "2", "shard", "b", NOW, SINCE).position is None
        assert set(leases.rows(arn)) == {"shard"}
