"""The loop: who reads what, when, and what is said about it."""

import threading
from types import SimpleNamespace

import pytest

from cdc_bridge.bridge import SILENT_MS, Bridge
from cdc_bridge.lineage import State
from cdc_bridge.stream import GapError, StreamAwayError
from cdc_bridge.tail import Tail
from contracts import TOPICS
from contracts.examples import codec

from .eventually import eventually
from .memory import MemoryKafka, MemoryLeases, MemoryShard, MemoryStreams
from .records import edge, record

CODECS = {name: codec(topic) for name, topic in TOPICS.items()}
ARN = "arn:followers"


def records(first, last):
    return [record(None, edge(follower=f"f{n}"), sequence=n) for n in range(first, last + 1)]


@pytest.fixture
def world():
    """A stream that a test fills, and bridges on it that stop with the test."""
    world = SimpleNamespace(
        streams=MemoryStreams(MemoryShard("old", records=records(1, 5))),
        leases=MemoryLeases(),
        kafka=MemoryKafka(),
        now=1_000,
    )
    running = []

    def bridge(owner, look_seconds):
        def tail(place, lease):
            return Tail(
                place,
                lease,
                CODECS,
                world.leases,
                lambda: world.streams.open(place.stream_arn, place.shard_id),
                world.kafka.publisher,
                lambda: world.now,
            )

        return Bridge(["followers"], world.streams, world.leases, tail, owner, look_seconds, 0.2, lambda: world.now)

    def start(owner="me", look_seconds=0.1):
        one = bridge(owner, look_seconds)
        thread = threading.Thread(target=one.run)
        thread.start()
        running.append((one, thread))
        return one, thread

    def rows():
        return world.leases.rows(ARN)

    world.start, world.rows = start, rows
    yield world
    for one, thread in running:
        one.stop()
        thread.join()


def published(world, last):
    return world.kafka.event_ids() == [f"event-{n}" for n in range(1, last + 1)]


def test_a_child_is_read_as_soon_as_its_parent_has_ended(world):
    """From its beginning, in order, and without waiting for the next round, which here never comes."""
    bridge, _ = world.start(look_seconds=3600)
    eventually(lambda: published(world, 5))
    old = world.streams.all["old"]
    world.streams.all["new"] = MemoryShard("new", "old", records=records(8, 9))
    old.records += records(6, 7)
    old.closed = True
    eventually(lambda: published(world, 9))
    assert world.rows()["old"].state is State.ENDED
    assert bridge.waiting_for() == []


def test_what_one_holds_another_leaves_alone_until_it_is_given_back(world):
    """Two bridges, no record twice; when the first is stopped the second goes on behind it."""
    first, thread = world.start("first")
    eventually(lambda: published(world, 5))
    second, _ = world.start("second")
    eventually(lambda: not second.waiting_for())
    assert world.rows()["old"].owner == "first"
    first.stop()
    thread.join()
    assert world.rows()["old"].owner is None
    world.streams.all["old"].records += records(6, 7)
    eventually(lambda: published(world, 7))
    assert world.rows()["old"].owner == "second"


def test_a_gap_is_not_ready_and_stops_only_its_own_line(world):
    """The shard is not read again; one that is no child of it goes on."""
    world.streams.failures = [GapError("shard old: trimmed")]
    bridge, _ = world.start()
    eventually(lambda: any("gap: shard old: trimmed" in reason for reason in bridge.waiting_for()))
    world.streams.all["child"] = MemoryShard("child", "old", records=records(6, 7))
    world.streams.all["other"] = MemoryShard("other", None, records=records(8, 9))
    eventually(lambda: world.kafka.event_ids() == ["event-8", "event-9"])
    assert world.rows()["old"].epoch == 1


def test_a_shard_that_vanished_before_its_end_is_a_gap(world):
    """Its children wait, and the reason is in the readiness answer."""
    world.leases.release(world.leases.take(ARN, "gone", "dead", world.now))
    world.streams.all = {"child": MemoryShard("child", "gone", records=records(1, 2))}
    bridge, _ = world.start()
    eventually(lambda: any("shard gone of followers: gap: vanished" in reason for reason in bridge.waiting_for()))
    assert world.kafka.log == []


def test_a_table_that_is_away_is_named_and_waited_for(world):
    """Not ready before it is seen, with the reason; ready when it comes."""

    def away(_table):
        raise StreamAwayError("table followers: not there")

    world.streams.arn, there = away, world.streams.arn
    bridge, _ = world.start()
    eventually(lambda: bridge.waiting_for() == ["table followers: table followers: not there"])
    world.streams.arn = there
    eventually(lambda: published(world, 5))
    eventually(lambda: bridge.waiting_for() == [])


def test_a_shard_that_makes_no_progress_is_not_ready(world):
    """Ready means progress, so a page that Kafka does not take shows, with how long."""
    given_up = threading.Event()

    def hang(_messages, _given_up):
        given_up.wait()

    world.kafka.instead = [hang]
    bridge, _ = world.start()
    eventually(lambda: not world.kafka.instead)
    eventually(lambda: bridge.waiting_for() == [])
    world.now += SILENT_MS + 1000
    during = bridge.waiting_for()
    given_up.set()
    assert any("shard old of followers: no progress for 31 s" in reason for reason in during)
