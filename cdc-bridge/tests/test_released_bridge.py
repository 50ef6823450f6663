"""The discovery and the leases of release 0.2.0, as they were released, beside ours while rows move to their parts.

It goes with the migration spread-leases, when no bridge of 0.2.0 runs any more.
"""

import importlib
import subprocess
import sys
from types import SimpleNamespace

import pytest

from cdc_bridge.discovery import Discovery
from cdc_bridge.dynamo_leases import LeaseTable
from cdc_bridge.dynamo_streams import Streams
from cdc_bridge.gaps import Policy
from cdc_bridge.leases import Progress
from cdc_bridge.lineage import State
from contracts.tables import LEASES, MIGRATIONS
from murmuration_testkit import REPOSITORY
from murmuration_testkit.unkind_aws import UnkindAws

RELEASE = "9320e0f78fa4e029af149883a68c8d41dd44d4d6"  # of 0.2.0
STORES = ["dynamo_errors", "dynamo_leases", "dynamo_streams", "lease_items", "leases"]
FILES = ["discovery", "gaps", "lineage", "metrics", *STORES]
NAME = "cdc_bridge_released"
HOURS, ROLLOVER_HOURS = 60, 4
FAR_AHEAD_MS = 10**9


@pytest.fixture(scope="session")
def released(tmp_path_factory):
    """Return the modules of 0.2.0, under a name of their own."""
    root = tmp_path_factory.mktemp("released")
    (root / NAME).mkdir()
    for file in FILES:
        command = ["git", "show", f"{RELEASE}:cdc-bridge/src/cdc_bridge/{file}.py"]
        text = subprocess.run(command, cwd=REPOSITORY, check=True, capture_output=True, text=True).stdout  # noqa: S603
        (root / NAME / f"{file}.py").write_text(text.replace("cdc_bridge", NAME))
    sys.path.insert(0, str(root))
    yield SimpleNamespace(**{file: importlib.import_module(f"{NAME}.{file}") for file in FILES})
    sys.path.remove(str(root))


@pytest.fixture
def world(released):
    """One AWS, with the clients of both."""
    aws = UnkindAws(seed=1)
    dynamodb, streams, clock = aws.client("dynamodb"), aws.client("dynamodbstreams"), aws.process(0)
    world = SimpleNamespace(aws=aws, dynamodb=dynamodb, clock=clock, stream=aws.stream("followers"), held={}, taken=[])
    world.ours, world.theirs = LeaseTable(dynamodb, ""), released.dynamo_leases.LeaseTable(dynamodb, "", 10_000)

    def looks(policy):
        rest = State.LEFT, lambda *_: False, clock.ms
        ours = Discovery(Streams(dynamodb, streams), world.ours, dict, policy, *rest, clock.ms)
        their_streams = released.dynamo_streams.Streams(dynamodb, streams)
        theirs = released.discovery.Discovery(their_streams, world.theirs, dict, released.gaps.Policy(policy), *rest)
        return ours, theirs

    world.looks = looks
    return world


def they_take(world, look):
    """Take whatever 0.2.0 can take, and give it back."""
    for shard in look.table("followers"):
        now = world.clock.ms()
        if lease := world.theirs.take(shard.stream_arn, shard.shard_id, "0.2.0", now, now):
            world.theirs.release(lease)
            world.taken.append(shard.shard_id)


def we_work(world, look):
    """Take what may be read, and finish what has ended."""
    for shard, row in look.table("followers").items():
        if shard.shard_id not in world.held and (lease := world.ours.take(shard.stream_arn, row, "us", FAR_AHEAD_MS)):
            world.held[shard.shard_id] = lease
    for name, lease in list(world.held.items()):
        now, is_open = world.clock.ms(), name in world.stream.open_shards()
        state, until = (State.READING, FAR_AHEAD_MS) if is_open else (State.ENDED, None)
        world.ours.save(lease, Progress(state, "1", now, now), until)
        if not is_open:
            del world.held[name]


@pytest.mark.parametrize("policy", Policy)
def test_it_takes_nothing_that_moved_and_tells_no_loss_of_it(world, policy):
    """Through rollovers, and until what was read has left the stream: for two and a half days."""
    ours, theirs = world.looks(policy)
    they_take(world, theirs)
    assert world.taken == world.stream.open_shards()
    migration = {MIGRATIONS.migration: {"S": MIGRATIONS.SPREAD_LEASES}, MIGRATIONS.switched_at: {"N": "1"}}
    world.dynamodb.put_item(TableName=MIGRATIONS.name, Item=migration)
    we_work(world, ours)
    world.taken.clear()
    for hour in range(HOURS):
        if hour % ROLLOVER_HOURS == 0:
            world.stream.roll_over()
        for _ in range(2):
            world.aws.sleep(1800)
            they_take(world, theirs)
            we_work(world, ours)
            they_take(world, theirs)
            we_work(world, ours)
    (arn,) = world.ours.rows(LEASES.streams_of("followers"))
    assert (world.taken, list(world.held)) == ([], world.stream.open_shards())
    for rows in (world.theirs.rows(arn), world.ours.rows(arn)):
        assert [row.gap for row in rows.values() if row.gap] == []
