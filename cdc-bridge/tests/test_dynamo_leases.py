"""One owner at a time, and nothing that an owner of the past can write. The same promises in memory and in DynamoDB."""

import uuid
from dataclasses import replace

import boto3
import pytest
from botocore.config import Config

from cdc_bridge.dynamo_leases import LeaseTable
from cdc_bridge.leases import LeaseLostError, Progress
from cdc_bridge.lineage import Row, State
from murmuration_testkit.unkind_aws import UnkindAws, Unkindness

from .memory import LEASE_MS, MemoryLeases, take

NOW = 1_700_000_000_000
SINCE = NOW - 5
NINE, TEN, LONGER = "900000000000000000009", "900000000000000000010", "1000000000000000000000"


@pytest.fixture(params=["memory", pytest.param("dynamodb", marks=pytest.mark.stack)])
def leases(request):
    if request.param == "memory":
        return MemoryLeases()
    return LeaseTable(request.getfixturevalue("dynamodb"), request.getfixturevalue("table_prefix"))


@pytest.fixture
def arn():
    """A stream that nobody has leases on."""
    return f"arn:aws:dynamodb:eu-central-1:1:table/followers/stream/{uuid.uuid4()}"


def reading(position, tip_at=NOW):
    return Progress(State.READING, position, SINCE, tip_at)


UNTIL = NOW + LEASE_MS


class TestLeases:
    def test_a_shard_is_taken_once_as_it_was_seen(self, leases, arn):
        """The first gets it with nothing read; whoever saw it as it was then gets nothing."""
        unseen = Row("shard", State.OPENED, since=SINCE)
        lease = leases.take(arn, unseen, "a", UNTIL)
        assert (lease.owner, lease.epoch, lease.position, lease.since, lease.tip_at) == ("a", 1, None, SINCE, SINCE)
        assert leases.take(arn, unseen, "b", UNTIL) is None
        assert leases.rows(arn)["shard"].state is State.OPENED

    def test_whoever_saw_a_dead_owners_row_takes_it_with_its_position(self, leases, arn):
        """Whatever the dead owner's clock said."""
        leases.save(take(leases, arn, "shard", "a", NOW, SINCE), reading(TEN), NOW + 3_600_000)
        lease = leases.take(arn, leases.rows(arn)["shard"], "b", UNTIL)
        assert (lease.owner, lease.epoch, lease.position) == ("b", 2, TEN)
        assert leases.rows(arn)["shard"].state is State.READING

    def test_an_owner_that_lives_keeps_its_shard(self, leases, arn):
        """It has renewed since its row was seen, though its clock stands still."""
        lease = take(leases, arn, "shard", "a", NOW, SINCE)
        seen = leases.rows(arn)["shard"]
        leases.save(lease, reading(TEN), UNTIL)
        assert leases.take(arn, seen, "b", UNTIL) is None

    def test_whoever_lost_the_lease_writes_nothing(self, leases, arn):
        """Not even under its own name: the epoch has moved on."""
        lost = take(leases, arn, "shard", "a", NOW, SINCE)
        leases.save(take(leases, arn, "shard", "a", NOW), reading(TEN), UNTIL)
        before = leases.rows(arn)
        for until in (UNTIL, None):
            with pytest.raises(LeaseLostError):
                leases.save(lost, reading(LONGER), until)
        assert leases.rows(arn) == before

    def test_a_checkpoint_never_goes_back(self, leases, arn):
        """Compared as numbers of any length; as text, 1000… would lie before 9."""
        lease = take(leases, arn, "shard", "a", NOW, SINCE)
        for position in (NINE, TEN, TEN, LONGER):
            leases.save(lease, reading(position), UNTIL)
        for position in (TEN, NINE):
            with pytest.raises(LeaseLostError):
                leases.save(lease, reading(position), UNTIL)
        assert leases.rows(arn)["shard"].position == LONGER

    def test_all_that_an_owner_remembers_is_one_write(self, leases, arn):
        """With the lease kept or given back; a gap that it does not name stays, and a position that it left goes."""
        lease = take(leases, arn, "shard", "a", NOW, SINCE)
        leases.save(lease, Progress(State.LEFT, None, NOW, NOW, gap="lost"), NOW + LEASE_MS)
        leases.save(lease, Progress(State.READING, NINE, NOW, NOW + 1), NOW + LEASE_MS + 1)
        row = leases.rows(arn)["shard"]
        assert (row.state, row.position, row.since, row.tip_at) == (State.READING, NINE, NOW, NOW + 1)
        assert (row.owner, row.epoch, row.expires_at, row.gap) == ("a", 1, NOW + LEASE_MS + 1, "lost")
        leases.save(lease, Progress(State.LEFT, None, NOW, NOW + 1, gap="lost"), None)
        row = leases.rows(arn)["shard"]
        assert (row.state, row.position, row.owner, row.expires_at) == (State.LEFT, None, None, 0)

    def test_an_old_write_that_comes_late_takes_no_position_away(self, leases, arn):
        """The first renewal was given up, and done all the same after the second."""
        lease = take(leases, arn, "shard", "a", NOW, SINCE)
        leases.save(lease, reading(TEN), UNTIL)
        with pytest.raises(LeaseLostError):
            leases.save(lease, Progress(State.OPENED, None, SINCE, NOW), UNTIL)
        assert leases.rows(arn)["shard"].position == TEN

    def test_a_released_shard_is_free_at_once(self, leases, arn):
        """Nobody waits for it to expire."""
        leases.save(take(leases, arn, "shard", "a", NOW, SINCE), reading(TEN), None)
        row = leases.rows(arn)["shard"]
        assert (row.owner, leases.take(arn, row, "b", UNTIL).epoch) == (None, 2)

    def test_a_finished_shard_is_taken_by_nobody(self, leases, arn):
        """It stays known, so that its children may go."""
        leases.save(take(leases, arn, "shard", "a", NOW, SINCE), Progress(State.ENDED, TEN, SINCE, NOW), None)
        row = leases.rows(arn)["shard"]
        assert (row.state, leases.take(arn, row, "b", UNTIL)) == (State.ENDED, None)

    def test_streams_are_apart(self, leases, arn):
        """A re-created table has a new stream; what an old one had under the same shard's name is not its own."""
        leases.save(take(leases, arn, "shard", "a", NOW, SINCE), reading(TEN), UNTIL)
        assert take(leases, arn + "2", "shard", "b", NOW, SINCE).position is None
        assert set(leases.rows(arn)) == {"shard"}

    def test_a_bridge_is_on_the_list_until_it_leaves(self, leases):
        """Each time that it says so its row changes, whatever its clock."""
        name = str(uuid.uuid4())
        before = leases.live(name, ["users", "blocks"], UNTIL)[name]
        after = leases.live(name, ["users"], UNTIL)[name]
        assert (before.expires_at, before.renewals + 1) == (UNTIL, after.renewals)
        assert (before.tables, after.tables) == ({"users", "blocks"}, {"users"})
        leases.leave(name)
        assert name not in leases.rows("bridges")


@pytest.fixture(params=["memory", pytest.param("dynamodb", marks=pytest.mark.stack)])
def forgetful(request):
    """A table whose answers are lost, each once, and botocore asks again."""
    if request.param == "memory":
        aws = UnkindAws(seed=1, unkind={Unkindness.REPEATED_WRITE: 1.0})
        yield LeaseTable(aws.client("dynamodb"), "")
        assert aws.occurred[Unkindness.REPEATED_WRITE]
        return
    client = boto3.client("dynamodb", config=Config(retries={"total_max_attempts": 2, "mode": "standard"}))
    lost = []

    def lose(attempts, operation, response, **_):  # the signature of botocore's event
        if attempts == 1 and response is not None:
            lost.append(operation.name)
            return 0.0
        return None

    for operation in ("UpdateItem", "PutItem"):
        client.meta.events.register(f"needs-retry.dynamodb.{operation}", lose)
    yield LeaseTable(client, request.getfixturevalue("table_prefix"))
    assert lost
    client.close()


class TestLostAnswers:
    """Botocore repeats what was done already, and is refused."""

    def test_of_take(self, forgetful, arn):
        """The shard is ours, and would stay unread until the lease ran out."""
        assert take(forgetful, arn, "shard", "a", NOW).epoch == 1
        assert forgetful.rows(arn)["shard"].epoch == 1

    def test_of_a_renewal_and_of_giving_back(self, forgetful, arn):
        """Neither is a loss."""
        lease = take(forgetful, arn, "shard", "a", NOW)
        forgetful.save(lease, reading(TEN), UNTIL)
        forgetful.save(lease, reading(TEN), None)
        assert forgetful.rows(arn)["shard"].owner is None

    def test_of_note_and_overrule(self, forgetful, arn):
        """The gap is told, and the operator not sent back to do again what is done."""
        assert forgetful.note(arn, Row("shard", State.LEFT, since=SINCE))
        row = forgetful.rows(arn)["shard"]
        assert forgetful.overrule(arn, row, replace(row, state=State.GAP, gap="lost"))
        assert not forgetful.overrule(arn, row, replace(row, state=State.GAP, gap="another"))


def test_until_when_a_stream_has_shown_all_never_moves_back_and_makes_no_row():
    """Whichever bridge says it last; a stream that nobody noted has none."""
    leases = MemoryLeases()
    leases.show("table/followers", "arn", 5)
    assert leases.rows("table/followers") == {}
    leases.note("table/followers", Row("arn", State.READING))
    for until in (7, 9, 8):
        leases.show("table/followers", "arn", until)
    assert leases.rows("table/followers")["arn"].shown_until == 9
