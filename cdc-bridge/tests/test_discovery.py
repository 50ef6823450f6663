"""What is found and what is gone: one listing proves nothing, several some time apart do."""

from contextlib import suppress
from types import SimpleNamespace

import pytest

from cdc_bridge.absences import APART_MS, LOOKS, Absences
from cdc_bridge.discovery import Discovery
from cdc_bridge.dynamo_leases import LeaseTable
from cdc_bridge.dynamo_streams import Streams
from cdc_bridge.gaps import Policy
from cdc_bridge.leases import Progress
from cdc_bridge.lineage import RETENTION_MS, Row, Shard, State
from cdc_bridge.orders import Orders
from cdc_bridge.shard_progress import TooLateError, check_beginning
from contracts.tables import LEASES, MIGRATIONS
from murmuration_runtime.errors import StoreAwayError
from murmuration_runtime.metrics import METRICS
from murmuration_testkit.unkind_aws import UnkindAws, Unkindness

from .memory import MemoryLeases, hold, take

NOW = 1_700_000_000_000


class OneTable:
    """A stream whose listing a test writes."""

    def __init__(self):
        self.listing = [Shard("open", None)]
        self.current = "arn"

    def arn(self, _):
        return self.current

    def shards(self, _):
        return list(self.listing)


@pytest.fixture
def world():
    """One table with one open shard, looked at as often as a test says."""
    world = SimpleNamespace(leases=MemoryLeases(), streams=OneTable(), now=NOW)

    def discovery(policy=Policy.FAIL):
        parts = world.streams, world.leases, dict, policy, State.LEFT, lambda *_: False
        return Discovery(*parts, lambda: world.now, lambda: world.now)

    def looks(discovery, times=LOOKS, apart=APART_MS):
        for _ in range(times):
            found = discovery.table("followers")
            world.now += apart
        return [shard.shard_id for shard in found]

    world.discovery, world.looks = discovery, looks
    world.row = lambda name="open": world.leases.rows("arn")[name]
    return world


def begun(world):
    world.leases.save(take(world.leases, "arn", "open", "me", NOW), Progress(State.READING, "5", NOW, NOW), None)


@pytest.mark.parametrize("policy", Policy)
@pytest.mark.parametrize("is_begun", [True, False])
@pytest.mark.parametrize(("times", "apart"), [(LOOKS - 1, RETENTION_MS), (100, APART_MS // 100)])
def test_listings_without_an_open_shard_do_not_end_it(world, policy, is_begun, times, apart):
    """However far apart two of them are, or however many come at once: AWS's listings lag."""
    discovery = world.discovery(policy)
    world.looks(discovery, 1)
    if is_begun:
        begun(world)
    whole, world.streams.listing = world.streams.listing, []
    world.looks(discovery, times, apart)
    world.streams.listing = whole
    assert world.looks(discovery, 1) == ["open"]
    assert world.row().gap is None


def test_a_shard_that_comes_back_is_gone_anew(world):
    """What counts is one absence, not the sum of several."""
    discovery = world.discovery()
    world.looks(discovery, 1)
    begun(world)
    for listing in ([], [Shard("open", None)]) * LOOKS:
        world.streams.listing = listing
        world.looks(discovery, LOOKS - 1)
    assert world.row().state is State.READING


def test_a_shard_that_stays_away_is_a_gap_or_finished(world):
    """What had to be published of it is lost; of one whose rest alone was wanted, nothing is."""
    discovery = world.discovery()
    world.streams.listing = [Shard("open", None), Shard("left", None)]
    world.looks(discovery, 1)
    begun(world)
    world.streams.listing = []
    world.looks(discovery)
    assert (world.row().state, world.row("left").state) == (State.GAP, State.ENDED)


def test_a_first_listing_that_left_out_a_shard_tells_no_gap(world):
    """Its parent aged out before we came; it shows itself a moment later."""
    discovery = world.discovery()
    world.looks(discovery, 1, 1000)
    world.streams.listing.append(Shard("omitted", "aged out"))
    assert world.looks(discovery, 1) == ["open"]
    assert world.row("omitted").state is State.LEFT
    assert world.looks(discovery) == ["open", "omitted"]
    world.streams.listing.append(Shard("orphan", "never seen"))
    world.looks(discovery)
    assert world.row("never seen").state is State.GAP


def test_a_stream_is_not_drained_by_one_listing(world):
    """The child of its last shard is not listed yet, and the next stream is there already."""
    discovery = world.discovery(Policy.CONTINUE)
    world.looks(discovery, 1)
    world.leases.save(take(world.leases, "arn", "open", "me", NOW), Progress(State.ENDED, "5", NOW, NOW), None)
    world.streams.current = "arn/2"
    world.looks(discovery, LOOKS - 1)
    world.streams.listing.append(Shard("child", "open"))
    assert "child" in world.looks(discovery, 1)
    assert world.leases.rows("table/followers")["arn"].state is State.READING


def vanish(world):
    """Of the policy: continue."""
    world.streams.listing = [Shard("child", "open")]


def vanish_unseen(world):
    """The child of it came and went as well."""
    world.streams.listing = [Shard("child", "never seen")]


def go_on(world):
    """As its reader does under the policy: continue."""
    held = hold(world.leases, "arn", "open", lambda: world.now)
    held.go_on("trimmed")
    held.finish()


def clear(world):
    """As an operator does under the policy: fail."""
    hold(world.leases, "arn", "open", lambda: world.now).fail("trimmed")
    Orders(world.leases, ["followers"]).clear("open", world.now)
    hold(world.leases, "arn", "open", lambda: world.now).finish()


@pytest.mark.parametrize("pass_gap", [vanish, vanish_unseen, go_on, clear])
@pytest.mark.parametrize("is_begun", [True, False])
def test_a_gap_that_is_passed_covers_nothing_of_the_shards_children(world, pass_gap, is_begun):
    """Their first records may be trimmed too, and nobody would say so: they are as old as what their parent lacks."""
    discovery = world.discovery(Policy.CONTINUE)
    world.looks(discovery, 1)
    if is_begun:
        begun(world)
    world.now += 2 * RETENTION_MS
    world.streams.listing.append(Shard("child", "open"))
    pass_gap(world)
    world.looks(discovery)
    [child] = [row for shard, row in discovery.table("followers").items() if shard.shard_id == "child"]
    with pytest.raises(TooLateError):
        check_beginning(Progress(child.state, child.position, child.since, child.tip_at), world.now)
    assert world.leases.rows(LEASES.streams_of("followers"))["arn"].tip_at <= NOW + APART_MS


def test_a_shard_that_nobody_reads_is_measured(world):
    """Whoever owns it, or nobody."""
    discovery = world.discovery()
    world.looks(discovery, 1)
    lease = take(world.leases, "arn", "open", "dead", NOW)
    world.leases.save(lease, Progress(State.READING, "5", NOW, NOW + 5), NOW)
    world.looks(discovery, 100)
    assert METRICS.get_sample_value("cdc_bridge_published_until_ms", {"table": "followers"}) == NOW + 5


def test_what_is_absent_is_forgotten_when_it_is_there_again():
    absences = Absences()
    for n in range(LOOKS):
        gone = absences.look({"a", "b"}, n * APART_MS)
    assert gone == {"a", "b"}
    assert absences.look({"b"}, LOOKS * APART_MS) == {"b"}
    assert absences.look({"a", "b"}, LOOKS * APART_MS) == {"b"}


def test_a_row_that_was_noted_by_a_released_bridge_is_no_first_listing(world):
    """Its stream's row does not say when it was found."""
    world.leases.note("table/followers", Row("arn", State.READING))
    world.leases.note("arn", Row("open", State.LEFT, since=NOW))
    world.streams.listing.append(Shard("child", "open"))
    world.looks(world.discovery(), 1)
    assert set(world.leases.rows("arn")) == {"open"}


def test_nothing_goes_on_behind_a_loss_that_could_not_be_written(world, monkeypatch):
    """Its reader lives and has just moved its checkpoint: it is not lost, and its child must wait."""
    discovery = world.discovery(Policy.CONTINUE)
    world.looks(discovery, 1)
    begun(world)
    world.streams.listing = [Shard("child", "open")]
    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(world.leases, "overrule", lambda *_: False)
        assert world.looks(discovery) == []
        assert world.leases.rows(LEASES.streams_of("followers"))["arn"].tip_at == NOW
    assert world.looks(discovery, 1) == ["child"]
    assert world.row().gap


def test_a_shard_that_nobody_saw_is_told_once_also_where_rows_lie_in_parts(world):
    """Its row is made and ended in one look, wherever it lies."""
    world.streams.current = "arn:aws:dynamodb:::table/followers/stream/2026-11-19T00:00:00.000"
    migration = {MIGRATIONS.migration: {"S": MIGRATIONS.SPREAD_LEASES}, MIGRATIONS.switched_at: {"N": "1"}}
    world.leases._dynamodb.put_item(TableName=MIGRATIONS.name, Item=migration)  # noqa: SLF001
    discovery = world.discovery(Policy.CONTINUE)
    world.looks(discovery, 1)
    world.streams.listing = [Shard("child", "never seen")]
    world.now += APART_MS
    assert world.looks(discovery) == ["child"]
    assert world.leases.rows(world.streams.current)["never seen"].gap
    assert len([name for name in world.leases.rows(LEASES.recounts()) if "never seen" in name]) == 1


def test_a_first_listing_that_is_throttled_goes_on_where_it_ended():
    """Of 300 shards, while a twentieth of all calls fail from the first one on."""
    aws = UnkindAws(seed=1)
    stream = aws.stream("followers")
    stream.split(stream.open_shards()[0], 300)
    aws.unkind.update({Unkindness.THROTTLING: 0.05})
    streams, leases = Streams(aws.client(), aws.client("dynamodbstreams")), LeaseTable(aws.client(), "")
    steady = aws.process().ms
    discovery = Discovery(streams, leases, dict, Policy.FAIL, State.LEFT, lambda *_: False, aws.ms, steady)

    def looked():
        with suppress(StoreAwayError):
            return bool(discovery.table("followers"))

    looks = 1
    while not looked():
        looks += 1
        assert looks < 100
        aws.sleep(2)
    aws.unkind.clear()
    assert looks > 1
    assert set(leases.rows(stream.arn)) == set(stream.shards)


def test_a_bridge_whose_clock_is_behind_takes_no_child_for_one_of_the_first_listing(world):
    """How long ago a stream was noted, no clock of another bridge says."""
    world.looks(world.discovery(), 1)
    world.now -= 3_600_000
    world.streams.listing.append(Shard("child", "open"))
    world.looks(world.discovery())
    assert set(world.leases.rows("arn")) == {"open"}


def test_a_child_of_the_first_listing_waits_until_its_parent_is_gone_for_good(world):
    """The listing may have left out the parent, and then that is read first."""
    world.streams.listing = [Shard("child", "parent")]
    discovery = world.discovery()
    assert world.looks(discovery, LOOKS - 1, 1000) == []
    world.streams.listing.append(Shard("parent", None))
    assert world.looks(discovery, 1) == ["parent"]
    world.streams.listing = [Shard("orphan", "aged out")]
    other = world.discovery()
    world.leases.note("arn", Row("orphan", State.LEFT, since=world.now))
    assert world.looks(other) == ["orphan"]


def test_a_loss_that_is_tried_again_owes_one_recount(world, monkeypatch):
    """Its row changed meanwhile, again and again; it is the same loss."""
    discovery = world.discovery(Policy.CONTINUE)
    world.looks(discovery, 1)
    begun(world)
    world.streams.listing = []
    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(world.leases, "overrule", lambda *_: False)
        world.looks(discovery, LOOKS + 3)
    world.looks(discovery, 1)
    assert len(world.leases.rows(LEASES.recounts())) == 1
