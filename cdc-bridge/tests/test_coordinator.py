"""The loop: who reads what, when, and what is said about it."""

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from types import SimpleNamespace

import pytest

from cdc_bridge import metrics
from cdc_bridge.absences import APART_MS
from cdc_bridge.coordinator import LEASES_STEP, SILENT_MS, Coordinator, stream_of
from cdc_bridge.discovery import Discovery
from cdc_bridge.gaps import Policy
from cdc_bridge.lineage import CLOCKS_MS, RETENTION_MS, Row, State
from cdc_bridge.orders import Orders
from cdc_bridge.pages import GapError
from cdc_bridge.shard_reader import ShardReader
from cdc_bridge.sharing import Sharing
from cdc_bridge.shown_streams import ShownStreams
from cdc_bridge.tips import QUIET_MS
from cdc_bridge.translate import TABLES
from cdc_bridge.turns import Turns
from contracts import TOPICS, ContractError
from contracts.examples import codec
from murmuration_runtime.errors import StoreAwayError, StoreRefusedError
from murmuration_runtime.metrics import METRICS
from murmuration_runtime.readiness import Readiness
from murmuration_testkit.waiting import eventually, steadily

from .memory import LEASE_MS, MemoryKafka, MemoryLeases, MemoryShard, MemoryStreams, hold
from .records import edge, record

CODECS = {name: codec(topic) for name, topic in TOPICS.items()}
ARN = "arn:followers"


NOW = 1_700_000_000_000


def records(first, last, committed_at=NOW):
    """Make records as of that time."""
    made = [record(None, edge(follower=f"f{n}"), sequence=n) for n in range(first, last + 1)]
    for one in made:
        one["dynamodb"]["ApproximateCreationDateTime"] = committed_at // 1000
    return made


@pytest.fixture
def world():
    """A stream that a test fills, and bridges on it that stop with the test."""
    world = SimpleNamespace(
        streams=MemoryStreams(MemoryShard("old", records=records(1, 5))),
        leases=MemoryLeases(),
        kafka=MemoryKafka(),
        topics={"FollowChanged": "id-1"},
        readiness={},
        now=NOW,
    )
    running = []
    threads = ThreadPoolExecutor(8)
    turns = Turns(threads)

    def topic_ids():
        if isinstance(world.topics, Exception):
            raise world.topics
        return world.topics

    def bridge(owner, look_seconds, policy, first):
        readiness = Readiness(stream_of("followers"), LEASES_STEP)

        def reader(shard, lease):
            return ShardReader(
                shard,
                lease,
                CODECS,
                lambda: world.streams.open(shard.stream_arn, shard.shard_id),
                world.kafka.publisher,
                threads,
                policy,
                lambda: world.now,
                lambda: world.now,
            )

        discovery = Discovery(
            world.streams,
            world.leases,
            topic_ids,
            policy,
            first,
            lambda *_: False,
            lambda: world.now,
            lambda: world.now,
        )
        sharing = Sharing(world.leases, owner, TABLES, LEASE_MS, lambda: world.now, lambda: world.now)
        one = Coordinator(
            ["followers"],
            discovery,
            sharing,
            reader,
            turns,
            readiness,
            look_seconds,
            0.2,
            lambda: world.now,
            ShownStreams(world.leases, discovery.listings.last, lambda: world.now),
        )
        world.readiness[one] = readiness
        return one

    def start(owner="me", look_seconds=0.1, policy=Policy.FAIL, first=State.LEFT):
        one = bridge(owner, look_seconds, policy, first)
        thread = threading.Thread(target=one.run)
        thread.start()
        running.append((one, thread))
        return one, thread

    def rows():
        return world.leases.rows(ARN)

    def waiting_for(one):
        return [*world.readiness[one].waiting_for(), *one.waiting_for()]

    def gaps():
        lines = Orders(world.leases, ["followers"]).shards(world.now)
        return [line.partition("  GAP ")[2] for line in lines if "  GAP " in line]

    world.start, world.rows, world.waiting_for, world.gaps = start, rows, waiting_for, gaps
    yield world
    for one, thread in running:
        one.stop()
        thread.join()
    turns.close()
    threads.shutdown()


def in_time(world, probe):
    """Wait for what several looks, some time apart, must agree on."""

    def pass_time():
        world.now += 1000
        return probe()

    eventually(pass_time)


def measured(name, **labels):
    return METRICS.get_sample_value(f"cdc_bridge_{name}", labels)


def published(world, last):
    return world.kafka.event_ids() == [f"event-{n}" for n in range(1, last + 1)]


def test_a_child_is_read_as_soon_as_its_parent_has_ended(world):
    """From its beginning, in order, and without waiting for the next round, which here never comes."""
    bridge, _ = world.start(look_seconds=3600)
    eventually(lambda: published(world, 5))
    old = world.streams.listed["old"]
    world.streams.listed["new"] = MemoryShard("new", "old", records=records(8, 9))
    old.records += records(6, 7)
    old.closed = True
    eventually(lambda: published(world, 9))
    assert world.rows()["old"].state is State.ENDED
    assert world.waiting_for(bridge) == []


def test_what_one_holds_another_leaves_alone_until_it_is_given_back(world):
    """Two bridges, no record twice; when the first is stopped the second goes on behind it."""
    first, thread = world.start("first")
    eventually(lambda: published(world, 5))
    second, _ = world.start("second")
    eventually(lambda: not world.waiting_for(second))
    assert world.rows()["old"].owner == "first"
    first.stop()
    thread.join()
    assert world.rows()["old"].owner is None
    world.streams.listed["old"].records += records(6, 7)
    eventually(lambda: published(world, 7))
    assert world.rows()["old"].owner == "second"


def lose(world):
    """Begin, and then lose what comes next."""
    world.start("before")
    eventually(lambda: published(world, 5))
    refuse(world)


def refuse(world):
    """Lack what comes next for so long that it is a gap."""
    world.streams.failures = [GapError("shard old: trimmed")] * 1000
    in_time(world, world.gaps)
    world.streams.failures = []


LOST = (
    "unreadable: shard old: trimmed; published up to 000000000000000000005; next: "
    "`python -m cdc_bridge clear old`, then "
    "count-reconciler recounts by itself; `python -m fanout_worker cold --all`"
)


def test_a_gap_is_measured_and_stops_only_its_own_line(world):
    """The shard is not read again, not even by the next bridge; one that is no child of it goes on.

    All bridges share the gap, so none is unready: it could not be replaced by one that mends it.
    """
    lose(world)
    bridge, _ = world.start("later")  # by its name it gets no share of one shard
    eventually(lambda: world.gaps() == [LOST])
    world.streams.listed["child"] = MemoryShard("child", "old", records=records(6, 7))
    world.streams.listed["other"] = MemoryShard("other", None, records=records(8, 9))
    eventually(lambda: world.kafka.event_ids()[5:] == ["event-8", "event-9"])
    assert world.rows()["old"].state is State.GAP
    eventually(lambda: measured("gaps_open", table="followers") == 1)
    assert world.waiting_for(bridge) == []


def test_a_bridge_that_may_continue_reads_what_is_left_and_does_not_forget(world):
    """Ready, because it makes progress; the gap is told all the same, by the next bridge too."""
    one, thread = world.start(policy=Policy.CONTINUE)
    eventually(lambda: published(world, 5))
    world.streams.listed["old"].records = records(8, 9)
    refuse(world)
    eventually(lambda: world.kafka.event_ids()[5:] == ["event-8", "event-9"])
    eventually(lambda: measured("gaps_open", table="followers") == 1)
    assert world.gaps() == [LOST]
    assert world.waiting_for(one) == []
    one.stop()
    thread.join()
    metrics.GAPS_OPEN.clear()
    world.start("after", policy=Policy.CONTINUE)
    eventually(lambda: measured("gaps_open", table="followers") == 1)


VANISHED = (
    "vanished: the shard left the stream before it was read to its end; published up to nothing; "
    "next: `python -m cdc_bridge clear gone`, then "
    "count-reconciler recounts by itself; `python -m fanout_worker cold --all`"
)


@pytest.fixture
def orphan(world):
    """A shard whose parent was begun, not read to its end, and is gone from the listing."""
    world.leases.note("table/followers", Row(ARN, State.READING))
    hold(world.leases, ARN, "gone", lambda: world.now, "dead").release()
    world.streams.listed = {"child": MemoryShard("child", "gone", records=records(1, 2))}


@pytest.mark.usefixtures("orphan")
def test_a_shard_that_vanished_before_its_end_is_a_gap(world):
    """Its children wait, and an operator is told why."""
    world.start()
    in_time(world, lambda: world.gaps() == [VANISHED])
    eventually(lambda: measured("gaps_open", table="followers") == 1)
    assert world.kafka.log == []


@pytest.mark.usefixtures("orphan")
def test_behind_a_shard_that_vanished_a_bridge_that_may_continue_reads_its_children(world):
    bridge, _ = world.start(policy=Policy.CONTINUE)
    in_time(world, lambda: published(world, 2))
    assert world.gaps() == [VANISHED]
    eventually(lambda: world.waiting_for(bridge) == [])


def test_a_shard_that_nobody_ever_saw_is_a_gap_too(world):
    """A whole generation came and went while no bridge ran: its grandchild says so by naming a parent unknown to us."""
    world.streams.listed["old"].closed = True
    world.start("before")
    eventually(lambda: published(world, 5))
    eventually(lambda: world.rows()["old"].state is State.ENDED)
    world.streams.listed = {"grandchild": MemoryShard("grandchild", "child", records=records(8, 9))}
    world.now += APART_MS
    world.start("after")
    in_time(world, lambda: any("vanished" in gap and "clear child`" in gap for gap in world.gaps()))
    assert published(world, 5)


def test_the_first_start_may_skip_what_is_there(world):
    """What was committed before the very first discovery, and remembered: what comes later is never skipped."""
    old = world.streams.listed["old"]
    old.records, old.closed = records(1, 5, NOW - 600_000), True
    new = world.streams.listed["new"] = MemoryShard("new", "old", records=records(6, 7, NOW - 600_000))
    world.streams.page_size = 10
    bridge, thread = world.start(first=State.SKIPPING)
    eventually(lambda: "new" in world.rows() and world.rows()["new"].state is State.READING)
    assert world.kafka.log == []
    bridge.stop()
    thread.join()
    world.now += APART_MS
    new.records += records(8, 9, NOW - 600_000)
    new.closed = True
    world.streams.listed["newer"] = MemoryShard("newer", "new", records=records(10, 11, NOW - 600_000))
    world.start(first=State.SKIPPING)
    eventually(lambda: world.kafka.event_ids() == [f"event-{n}" for n in range(8, 12)])


def test_a_first_start_that_was_cut_short_skips_nothing_that_was_committed_after_it(world):
    """The bridge found the shard, and was killed before it read anything; a day later the next one comes."""
    shard = world.streams.listed["old"]
    shard.records = records(1, 5, NOW - 600_000)
    world.leases.note(ARN, Row("old", State.SKIPPING, since=NOW))
    world.leases.note("table/followers", Row(ARN, State.READING))
    shard.records += records(6, 7)
    world.now += RETENTION_MS - CLOCKS_MS - 1
    world.streams.page_size = 10
    world.start(first=State.SKIPPING)
    eventually(lambda: world.kafka.event_ids() == ["event-6", "event-7"])


def test_what_lies_behind_the_first_new_record_is_published_whatever_its_clock_said(world):
    """A record's time is coarse and another machine's: only the old ones at the very beginning are skipped."""
    shard = world.streams.listed["old"]
    shard.records = records(1, 2, NOW - 600_000) + records(3, 3) + records(4, 4, NOW - 600_000)
    world.streams.page_size = 10
    world.start(first=State.SKIPPING)
    eventually(lambda: world.kafka.event_ids() == ["event-3", "event-4"])


def test_a_new_stream_is_a_gap_and_waits_until_the_old_one_is_drained(world):
    """What was written between the two left no trace; even when an operator has said so, the old one comes first."""
    world.start()
    eventually(lambda: published(world, 5))
    old = world.streams.listed["old"]
    world.streams.current = "arn:followers/2"
    world.streams.of["arn:followers/2"] = {"first": MemoryShard("first", None, records=records(8, 9))}
    eventually(lambda: any("stream: it follows arn:followers" in gap for gap in world.gaps()))
    gap = world.leases.rows("table/followers")["arn:followers/2"]
    assert world.leases.overrule("table/followers", gap, replace(gap, state=State.READING, gap=None))
    eventually(lambda: measured("gaps_open", table="followers") == 0)
    old.records += records(6, 7)
    eventually(lambda: published(world, 7))
    old.closed = True
    in_time(world, lambda: published(world, 9))
    assert world.leases.rows("table/followers")[ARN].state is State.ENDED


def test_a_topic_made_again_under_us_stops_everything(world):
    """Its events are gone, and more of them would look as if nothing were wrong."""
    bridge, _ = world.start()
    eventually(lambda: published(world, 5))
    world.topics = {"FollowChanged": "id-2"}
    eventually(lambda: any("topic: its id is now id-2" in gap for gap in world.gaps()))
    eventually(lambda: world.rows()["old"].owner is None)
    eventually(lambda: (measured("publishing_stopped"), measured("gaps_open", table="topics")) == (1, 1))
    assert world.waiting_for(bridge) == []
    world.streams.listed["old"].records += records(6, 7)
    row = world.leases.rows("topics")["FollowChanged"]
    assert world.leases.overrule("topics", row, replace(row, state=State.LEFT, gap=None))
    eventually(lambda: published(world, 7))
    eventually(lambda: (measured("publishing_stopped"), measured("gaps_open", table="topics")) == (0, 0))


def test_two_bridges_share_the_shards_and_a_third_gets_its_part(world):
    """Evenly, and when one goes the others take its shards."""
    world.streams.listed = {name: MemoryShard(name) for name in "abcdef"}

    def shares():
        return sorted(Counter(row.owner for row in world.rows().values()).items(), key=str)

    world.start("one")
    eventually(lambda: shares() == [("one", 6)])
    second, thread = world.start("two")
    eventually(lambda: shares() == [("one", 3), ("two", 3)])
    world.start("three")
    eventually(lambda: shares() == [("one", 2), ("three", 2), ("two", 2)])
    second.stop()
    thread.join()
    eventually(lambda: shares() == [("one", 3), ("three", 3)])


def test_the_table_says_until_when_everything_is_published(world):
    """As far as its slowest shard: the row of the stream is what others rely on."""
    world.start()
    eventually(lambda: published(world, 5))
    world.streams.listed["old"].records += records(6, 7)
    eventually(lambda: published(world, 7))

    def is_published_later():
        world.now += 1_000
        return NOW + QUIET_MS <= world.leases.rows("table/followers")[ARN].tip_at <= world.now - QUIET_MS

    eventually(is_published_later)


def test_the_table_says_until_when_all_that_was_shown_is_published_and_no_longer_while_kafka_is_away(world):
    """The row of the stream is what others rely on, with records on the way and without."""
    world.start()
    eventually(lambda: published(world, 5))

    def shown_until():
        return world.leases.rows("table/followers")[ARN].shown_until

    def is_shown(moment):
        world.now += 500
        return shown_until() > moment

    moment = world.now
    eventually(lambda: is_shown(moment + QUIET_MS))
    world.kafka.away = True
    world.streams.listed["old"].records += records(6, 7)
    eventually(lambda: world.kafka.tried)
    kept = shown_until()
    world.now += 60_000
    steadily(lambda: shown_until() <= kept + QUIET_MS, True, during=0.5)
    world.kafka.away = False
    eventually(lambda: published(world, 7))
    eventually(lambda: is_shown(kept + 60_000))


def away(error):
    def arn(_table):
        raise error

    return arn


def test_a_table_that_was_never_seen_is_named_and_waited_for(world):
    """Not ready, with the reason; ready when it comes."""
    world.streams.arn, there = away(StoreAwayError("table followers: not there")), world.streams.arn
    bridge, _ = world.start()
    eventually(lambda: world.waiting_for(bridge) == ["stream of followers: table followers: not there"])
    world.streams.arn = there
    eventually(lambda: published(world, 5))
    eventually(lambda: world.waiting_for(bridge) == [])


def test_a_stream_that_a_migration_is_to_bring_holds_up_nobody_and_is_read_when_it_comes(world):
    """Ready at once; and from the stream's first record on, without a gap."""
    world.streams.arn, there = lambda _: None, world.streams.arn
    bridge, _ = world.start(look_seconds=0.01)
    eventually(lambda: world.waiting_for(bridge) == [])
    assert world.leases.rows("table/followers") == {}
    world.streams.arn = there
    eventually(lambda: published(world, 5))
    assert (world.waiting_for(bridge), world.gaps()) == ([], [])


def test_a_table_that_goes_away_later_is_measured_and_no_reason_to_be_unready(world, caplog):
    """All bridges share it; its shards are read on, and the reason is logged once."""
    bridge, _ = world.start(look_seconds=0.01)
    eventually(lambda: published(world, 5))
    world.streams.arn = away(StoreAwayError("table followers: gone"))
    eventually(lambda: METRICS.get_sample_value("store_up", {"store": "stream of followers"}) == 0)
    world.streams.listed["old"].records += records(6, 7)
    eventually(lambda: published(world, 7))
    assert world.waiting_for(bridge) == []
    assert [getattr(line, "reason", "") for line in caplog.records].count("table followers: gone") == 1


def test_while_a_table_is_away_its_stream_is_read_on_into_new_shards(world):
    """Only a new stream needs the table: children and a dead bridge's shards do not."""
    world.start(look_seconds=0.01)
    eventually(lambda: published(world, 5))
    world.streams.arn = away(StoreAwayError("table followers: gone"))
    eventually(lambda: METRICS.get_sample_value("store_up", {"store": "stream of followers"}) == 0)
    world.streams.listed["child"] = MemoryShard("child", "old", records(6, 7))
    world.streams.listed["old"].closed = True
    eventually(lambda: published(world, 7))


def test_a_store_that_refuses_this_process_makes_it_unready(world):
    """Its own credentials are wrong, in the rounds or only for a shard's pages; another bridge's may be right."""
    bridge, _ = world.start()
    eventually(lambda: published(world, 5))
    world.streams.arn, there = away(StoreRefusedError("wrong key")), world.streams.arn
    eventually(lambda: world.waiting_for(bridge) == ["stream of followers: wrong key"])
    world.streams.arn = there
    eventually(lambda: world.waiting_for(bridge) == [])
    refused = StoreRefusedError("shard old: wrong key")

    def refuse():
        raise refused

    world.streams.before_page = refuse
    eventually(lambda: world.waiting_for(bridge) == ["shard old: wrong key"])
    world.streams.before_page = lambda: None
    eventually(lambda: world.waiting_for(bridge) == [])


def test_a_topic_that_is_not_as_its_contract_says_stops_everything(world, caplog):
    """Events would lie where nobody looks; it is an alarm of all bridges, and none is unready."""
    bridge, _ = world.start(look_seconds=0.01)
    eventually(lambda: published(world, 5))
    world.topics = ContractError("FollowChanged has 13 partitions where its contract says 12")
    eventually(lambda: world.rows()["old"].owner is None)
    eventually(lambda: measured("publishing_stopped") == 1)
    assert world.waiting_for(bridge) == []
    stopped = "publishing stopped: a topic is not as its contract says"
    assert [line.message for line in caplog.records].count(stopped) == 1


def test_a_shard_that_waits_for_kafka_is_measured_as_stalled(world):
    """It shows that it is alive, so the bridge stays ready; when Kafka takes the page it is stalled no longer."""
    world.kafka.away = True
    bridge, _ = world.start(look_seconds=0.01)
    eventually(lambda: "old" in world.rows() and world.rows()["old"].owner is not None)
    eventually(lambda: measured("shards_stalled", table="followers") == 0)
    world.now += LEASE_MS // 2
    eventually(lambda: world.rows()["old"].expires_at == world.now + LEASE_MS)
    for _ in range(SILENT_MS * 3 // LEASE_MS):
        world.now += LEASE_MS // 2
        eventually(lambda: world.rows()["old"].expires_at == world.now + LEASE_MS)
    eventually(lambda: measured("shards_stalled", table="followers") == 1)
    eventually(lambda: world.waiting_for(bridge) == [])
    world.kafka.away = False
    eventually(lambda: measured("shards_stalled", table="followers") == 0)


def test_a_thread_that_hangs_makes_the_bridge_unready(world):
    """That is this process's alone: another bridge may read the shard."""
    given_up = threading.Event()

    def hang(_messages):
        given_up.wait()

    world.kafka.instead = [hang]
    bridge, _ = world.start()
    eventually(lambda: not world.kafka.instead)
    eventually(lambda: world.waiting_for(bridge) == [])
    world.now += SILENT_MS + 1000
    during = world.waiting_for(bridge)
    given_up.set()
    assert any("shard old of followers: no sign of life for 31 s" in reason for reason in during)


def test_a_loop_that_hangs_makes_the_bridge_unready(world):
    """Nothing would be renewed, found or taken any more."""
    bridge, _ = world.start()
    eventually(lambda: published(world, 5))
    hanging, over = threading.Event(), threading.Event()

    def hang(_table):
        hanging.set()
        over.wait()
        return ARN

    world.streams.arn = hang
    hanging.wait()
    world.now += SILENT_MS + 1000
    during = world.waiting_for(bridge)
    over.set()
    assert any("coordinator: no sign of life for 31 s" in reason for reason in during)
