"""Rows of shards move to their parts, beside bridges that know only the old place: a shard has one owner throughout."""

import uuid
from contextlib import suppress
from types import SimpleNamespace

import pytest

from cdc_bridge.dynamo_leases import LeaseTable
from cdc_bridge.held_lease import HeldLease
from cdc_bridge.leases import Progress
from cdc_bridge.lineage import Row, ShardKey, State
from cdc_bridge.sharing import MOVED_AT_ONCE, Sharing
from cdc_bridge.translate import TABLES
from contracts.tables import LEASES, MIGRATIONS
from murmuration_runtime.errors import StoreAwayError
from murmuration_testkit.unkind_aws import UnkindAws, Unkindness

from .memory import LEASE_MS

NOW = 1_700_000_000_000
UNTIL = NOW + LEASE_MS


@pytest.fixture(params=["unkind", pytest.param("dynamodb", marks=pytest.mark.stack)])
def world(request):
    """A stream that nobody has leases on, before the migration."""
    if request.param == "unkind":
        dynamodb, prefix = UnkindAws(seed=1).client("dynamodb"), ""
    else:
        dynamodb, prefix = request.getfixturevalue("dynamodb"), f"bridge-{uuid.uuid4().hex[:8]}-"
        request.getfixturevalue("new_tables")(prefix)
    world = SimpleNamespace(
        arn=f"arn:aws:dynamodb:eu-central-1:1:table/followers/stream/{uuid.uuid4()}",
        leases=LeaseTable(dynamodb, prefix),
        stale=LeaseTable(dynamodb, prefix),
    )
    key = {MIGRATIONS.migration: {"S": MIGRATIONS.SPREAD_LEASES}}

    def come_to(*steps):
        item = key | {step: {"N": "1"} for step in steps}
        dynamodb.put_item(TableName=prefix + MIGRATIONS.name, Item=item)
        world.leases.rows(world.arn)

    def items(partition):
        answer = dynamodb.query(
            TableName=prefix + LEASES.name,
            ConsistentRead=True,
            KeyConditionExpression="stream_arn = :part",
            ExpressionAttributeValues={":part": {"S": partition}},
        )
        return {item["shard_id"]["S"]: item for item in answer["Items"]}

    def take_as_released(shard_id):
        """Take a shard as 0.2.0 does."""
        return dynamodb.update_item(
            TableName=prefix + LEASES.name,
            Key={"stream_arn": {"S": world.arn}, "shard_id": {"S": shard_id}},
            UpdateExpression="SET #owner = :owner, #expires_at = :until, #state = if_not_exists(#state, :opened)"
            " ADD #epoch :one",
            ConditionExpression="(attribute_not_exists(#owner) OR #expires_at <= :now)"
            " AND (attribute_not_exists(#state) OR NOT #state IN (:ended, :gap))",
            ExpressionAttributeNames={
                f"#{name}": name for name in (LEASES.owner, LEASES.expires_at, LEASES.state, LEASES.epoch)
            },
            ExpressionAttributeValues={
                ":owner": {"S": "0.2.0"},
                ":now": {"N": str(NOW)},
                ":until": {"N": str(UNTIL)},
                ":opened": {"S": State.OPENED},
                ":ended": {"S": State.ENDED},
                ":gap": {"S": State.GAP},
                ":one": {"N": "1"},
            },
        )

    world.come_to, world.items, world.take_as_released = come_to, items, take_as_released
    world.refused = dynamodb.exceptions.ConditionalCheckFailedException
    world.come_to()
    world.stale.rows(world.arn)
    return world


def seen(world, shard_id="shard"):
    return world.leases.rows(world.arn).get(shard_id, Row(shard_id, State.OPENED, since=NOW))


def test_before_the_switch_all_is_as_released_bridges_know_it(world):
    """So the new release can be taken back."""
    lease = world.leases.take(world.arn, seen(world), "a", UNTIL)
    assert (lease.part, set(world.items(world.arn))) == (world.arn, {"shard"})


def test_a_row_moves_when_it_is_taken_and_no_released_bridge_takes_what_is_left(world):
    """With its position, under a higher epoch."""
    lease = world.leases.take(world.arn, seen(world), "a", UNTIL)
    world.leases.save(lease, Progress(State.READING, "7", NOW, NOW + 1), None)
    world.come_to(MIGRATIONS.switched_at)
    moved = world.leases.take(world.arn, seen(world), "b", UNTIL)
    assert (moved.part, moved.position, moved.epoch) == (LEASES.part_of(world.arn, "shard"), "7", 2)
    row = world.leases.rows(world.arn)["shard"]
    assert (row.owner, row.tip_at, row.state, row.part) == ("b", NOW + 1, State.READING, moved.part)
    with pytest.raises(world.refused):
        world.take_as_released("shard")
    world.leases.save(moved, Progress(State.READING, "8", NOW, NOW + 2), UNTIL)
    assert world.leases.rows(world.arn)["shard"].position == "8"


def test_a_dead_owners_row_moves_too_and_a_living_ones_does_not(world):
    """On the condition that it is as it was seen."""
    lease = world.leases.take(world.arn, seen(world), "a", UNTIL)
    was = seen(world)
    world.come_to(MIGRATIONS.switched_at)
    world.leases.save(lease, Progress(State.READING, "7", NOW, NOW), UNTIL)
    assert world.leases.take(world.arn, was, "b", UNTIL) is None
    assert world.leases.take(world.arn, seen(world), "b", UNTIL).position == "7"


@pytest.mark.parametrize("first", ["leases", "stale"])
def test_of_two_that_disagree_whether_the_switch_has_come_one_gets_a_new_shard(world, first):
    world.come_to(MIGRATIONS.switched_at)
    unseen = Row("new", State.OPENED, since=NOW)
    two = [getattr(world, first), world.leases if first == "stale" else world.stale]
    got = [table.take(world.arn, unseen, name, UNTIL) for table, name in zip(two, "ab", strict=True)]
    assert [lease and lease.owner for lease in got] == ["a", None]
    assert world.leases.rows(world.arn)["new"].owner == "a"


def test_a_new_shard_is_out_of_a_released_bridges_reach(world):
    """It has no row yet that could move, and its parent may still be read in the new place."""
    world.come_to(MIGRATIONS.switched_at)
    assert world.leases.note(world.arn, Row("noted", State.LEFT, since=NOW))
    assert world.leases.take(world.arn, seen(world, "child"), "a", UNTIL).tip_at == NOW
    for shard in ("noted", "child"):
        with pytest.raises(world.refused):
            world.take_as_released(shard)
        assert world.items(world.arn)[shard][LEASES.state] == {"S": LEASES.GAP}
    assert not world.leases.note(world.arn, Row("noted", State.LEFT, since=NOW))


def test_when_no_released_bridge_runs_nothing_is_left_behind(world):
    world.come_to(MIGRATIONS.switched_at, MIGRATIONS.contracted_at)
    world.leases.note(world.arn, Row("noted", State.LEFT, since=NOW))
    world.leases.take(world.arn, seen(world, "child"), "a", UNTIL)
    assert world.items(world.arn) == {}
    assert set(world.leases.rows(world.arn)) == {"noted", "child"}


def test_what_is_held_in_the_old_place_is_given_back_a_few_at_a_time(world):
    """So it moves without a restart."""
    sharing = Sharing(world.leases, "us", TABLES, LEASE_MS, lambda: NOW, lambda: 0)
    held = {}
    for n in range(MOVED_AT_ONCE + 1):
        lease = world.leases.take(world.arn, Row(f"{n}", State.OPENED, since=NOW), "us", UNTIL)
        held[ShardKey("followers", world.arn, f"{n}")] = HeldLease(
            world.leases, lease, LEASE_MS, 0, lambda: NOW, lambda: 0
        )
    assert sharing.moves({}, held).give == []
    world.come_to(MIGRATIONS.switched_at)
    assert len(sharing.moves({}, held).give) == MOVED_AT_ONCE


@pytest.mark.parametrize("unkindness", [Unkindness.REPEATED_WRITE, Unkindness.LOST_ANSWER])
def test_a_move_whose_answer_is_lost_is_done_once(unkindness):
    """The next round finds it done."""
    aws = UnkindAws(seed=3)
    leases, arn = LeaseTable(aws.client("dynamodb"), ""), "arn:aws:dynamodb:eu:1:table/followers/stream/1"
    aws.client("dynamodb").put_item(
        TableName=MIGRATIONS.name,
        Item={MIGRATIONS.migration: {"S": MIGRATIONS.SPREAD_LEASES}, MIGRATIONS.switched_at: {"N": "1"}},
    )
    leases.rows(arn)
    aws.order(unkindness, "TransactWriteItems", LEASES.name)
    with suppress(StoreAwayError):
        leases.note(arn, Row("shard", State.LEFT, since=NOW))
    assert leases.take(arn, leases.rows(arn)["shard"], "us", UNTIL).epoch == 1
    assert aws.occurred[unkindness] == 1
