"""One shard: what is acknowledged is checkpointed, what is not is repeated, and nothing is skipped."""

import threading
from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from cdc_bridge.dynamo_streams import FULL_PAGE, GapError
from cdc_bridge.gaps import Policy
from cdc_bridge.kafka_publisher import PublishError, RefusedError
from cdc_bridge.leases import LeaseLostError
from cdc_bridge.lineage import RETENTION_MS, Row, ShardKey, State
from cdc_bridge.shard_progress import SETTLED_MS
from cdc_bridge.shard_reader import IDLE_SECONDS, ShardReader, pause_after
from contracts import TOPICS
from contracts.examples import codec
from murmuration_runtime.errors import StoreAwayError
from murmuration_testkit.waiting import eventually

from .memory import LEASE_MS, MemoryKafka, MemoryLeases, MemoryShard, MemoryStreams, hold, take
from .records import edge, record

CODECS = {name: codec(topic) for name, topic in TOPICS.items()}
SHARD = ShardKey("followers", "arn:followers", "shard")
NOW = 1_700_000_000_000
ALL = [f"event-{n}" for n in range(1, 6)]


@pytest.fixture
def shard():
    """A closed shard of five records: three pages, the last with a record and nothing after it."""
    records = [record(None, edge(follower=f"f{n}"), sequence=n) for n in range(1, 6)]
    return MemoryShard("shard", records=records, closed=True)


@pytest.fixture
def world(shard):
    """Everything a reader needs, in memory."""
    world = SimpleNamespace(streams=MemoryStreams(shard), leases=MemoryLeases(), kafka=MemoryKafka(), now=1_000)

    def reader(policy=Policy.FAIL):
        return ShardReader(
            SHARD,
            hold(world.leases, SHARD.stream_arn, "shard", lambda: world.now),
            CODECS,
            lambda: world.streams.open(SHARD.stream_arn, "shard"),
            world.kafka.publisher,
            policy,
            lambda: world.now,
            lambda: world.now,
        )

    def row():
        return world.leases.rows(SHARD.stream_arn)["shard"]

    world.reader, world.row = reader, row
    return world


def refuse(_messages, _given_up):
    raise PublishError("refused")


def test_the_last_page_of_a_closed_shard_is_published_before_the_shard_is_finished(world):
    """Its records come with no next iterator: whoever looks at that first loses them."""
    world.reader().run()
    assert world.kafka.event_ids() == ALL
    assert (world.row().state, world.row().owner) == (State.ENDED, None)


def test_a_refused_page_is_published_again_and_not_checkpointed_before(world):
    """The checkpoint stays where Kafka's acknowledgement was."""
    positions, reader = [], world.reader()
    world.kafka.instead = [lambda *_: None, refuse, lambda *_: positions.append(reader.lease.progress.position)]
    reader.run()
    assert world.kafka.event_ids() == ALL
    assert positions == ["000000000000000000002"]


@pytest.mark.parametrize("error", [StoreAwayError("away"), RuntimeError("a bug")])
def test_an_error_in_reading_costs_nothing(world, error, caplog):
    """Whatever it was, it is logged once and the checkpoint is where to go on."""
    world.streams.failures = [error, error]
    world.reader().run()
    assert world.kafka.event_ids() == ALL
    assert [entry.message for entry in caplog.records].count("shard stalled; retrying from the checkpoint") == 1


def test_a_new_tail_goes_on_behind_the_checkpoint(world):
    """A crash repeats at most the page that it was on."""
    crashed = world.reader()
    world.kafka.instead = [lambda *_: None, lambda *_: crashed.stop() or refuse(None, None)]
    crashed.run()
    world.reader().run()
    assert world.kafka.event_ids() == ALL


def test_a_dead_letter_takes_its_place_and_holds_up_nobody(world, shard):
    """The page goes on behind it."""
    del shard.records[2]["dynamodb"]["NewImage"]["followed_at"]
    world.reader().run()
    assert world.kafka.event_ids() == ALL
    assert [message.topic for message in world.kafka.log].index("FollowChanged.dlq") == 2
    assert world.row().state is State.ENDED


class Picky:
    """A Kafka that takes no message about these followers, nor with them anything that was sent at once."""

    def __init__(self, kafka, *followers, dead_letters=True):
        self._kafka = kafka
        self._followers = {name.encode() for name in followers}
        self._dead_letters = dead_letters

    @contextmanager
    def publisher(self):
        yield self

    def publish(self, messages, _given_up):
        for message in messages:
            bad = dict(message.headers)["follower_id"] in self._followers
            if bad and (message.refusal is None or (message.value and not self._dead_letters)):
                raise RefusedError("too large")
        self._kafka.log += messages

    def publish_alone(self, message, given_up):
        self.publish([message], given_up)


@pytest.mark.parametrize("dead_letters", [True, False])
def test_what_kafka_refuses_twice_is_a_dead_letter_in_its_place_and_the_rest_goes_on(world, caplog, dead_letters):
    """With its page, then alone; its neighbours arrive once. If it is too large even for that, without its record."""
    world.kafka.publisher = Picky(world.kafka, "f2", "f4", dead_letters=dead_letters).publisher
    world.reader().run()
    assert world.kafka.event_ids() == ALL
    letters = [message for message in world.kafka.log if message.topic == "FollowChanged.dlq"]
    assert [dict(message.headers)["sequence_number"][-1:] for message in letters] == [b"2", b"4"]
    assert all(dict(letter.headers)["reason"] == b"too large" for letter in letters)
    assert all(bool(letter.value) == dead_letters for letter in letters)
    assert world.row().state is State.ENDED
    assert any("event event-2: too large" in getattr(entry, "reason", "") for entry in caplog.records)


def test_what_kafka_refuses_only_in_company_is_no_dead_letter(world):
    """A batch that is too large as a whole is sent one by one, and each arrives."""

    def too_many(messages, _given_up):
        if len(messages) > 1:
            raise RefusedError("too large")

    world.kafka.instead = [too_many, too_many, too_many, too_many]
    world.reader().run()
    assert world.kafka.event_ids() == ALL
    assert all(message.refusal is None for message in world.kafka.log)


def test_a_shard_says_until_when_it_is_published(world, shard):
    """When it was asked, less what a stream needs to show a row; a full page only says as far as its last record."""
    shard.closed = False
    world.streams.page_size = FULL_PAGE
    reads = []
    world.now = NOW
    reader = world.reader()

    def look():
        reads.append(reader.lease.progress.tip_at)
        world.now += 5_000
        reader.lease.renew()
        world.now += 5_000
        reader.lease.renew()
        if len(reads) == 3:
            reader.stop()

    world.streams.before_page = look
    shard.records[:] = [record(None, edge(), sequence=n) for n in range(1, FULL_PAGE + 1)]
    shard.records[-1]["dynamodb"]["ApproximateCreationDateTime"] = (NOW + 5_000) // 1000
    reader.run()
    assert reads == [NOW, NOW + 5_000, NOW + 10_000 - SETTLED_MS]


def test_the_end_of_a_closed_shard_is_no_tip(world, shard):
    """It may have closed long ago, and its child been written to ever since: the child is not published that far."""
    shard.records.clear()
    world.now = NOW
    reader = world.reader()
    world.now += 5_000
    reader.run()
    assert (world.row().state, world.row().tip_at) == (State.ENDED, NOW)


@pytest.mark.parametrize("state", [State.OPENED, State.LEFT, State.SKIPPING])
def test_a_shard_that_was_not_begun_for_a_day_is_a_gap(world, state):
    """The stream gives what is left without a word; what was before it, nobody can know."""
    world.leases.note(SHARD.stream_arn, Row("shard", state, since=world.now))
    world.now += RETENTION_MS
    world.reader().run()
    assert "not begun in time" in world.row().gap
    assert (world.kafka.log, world.row().state) == ([], State.GAP)


def test_a_gap_ends_the_reading_and_is_told(world, caplog):
    """No record after it is published, and the shard is not finished, so its children wait."""
    world.streams.failures = [GapError("trimmed")]
    reader = world.reader()
    reader.run()
    assert world.row().gap == "unreadable: trimmed; published up to nothing"
    assert (world.kafka.log, world.row().state, world.row().owner) == ([], State.GAP, None)
    assert any(entry.levelname == "ERROR" and entry.shard_id == "shard" for entry in caplog.records)


def test_a_lease_that_ran_out_produces_nothing(world):
    """A process that slept must not produce what somebody else has long published."""
    reader = world.reader()
    world.now += LEASE_MS
    reader.run()
    assert (world.kafka.log, world.row().position) == ([], None)


def test_a_lease_lost_while_publishing_leaves_the_checkpoint_alone(world, caplog):
    """The page may be on Kafka twice; the new owner's checkpoint stands, and nothing more is produced."""
    reader = world.reader()

    def lose(*_):
        take(world.leases, SHARD.stream_arn, "shard", "other", world.now)
        with pytest.raises(LeaseLostError):
            reader.lease.renew()

    world.kafka.instead = [lose]
    reader.run()
    assert world.kafka.event_ids() == ALL[:2]
    assert (world.row().owner, world.row().position) == ("other", None)
    assert [entry.message for entry in caplog.records] == ["lease lost"]


def test_stop_finishes_the_page_and_gives_the_lease_back(world, shard):
    """The next owner repeats nothing."""
    shard.closed = False
    reader = world.reader()
    thread = threading.Thread(target=reader.run)
    thread.start()
    eventually(lambda: world.kafka.event_ids() == ALL)
    reader.stop()
    thread.join()
    assert (world.row().owner, world.row().position) == (None, "000000000000000000005")


def test_giving_up_leaves_a_page_that_kafka_does_not_take(world):
    """SIGTERM while Kafka is away: the lease goes back, the page is for the next owner."""
    reader = world.reader()

    def wait(_messages, given_up):
        assert not given_up()
        reader.give_up()
        assert given_up()
        raise PublishError("given up")

    world.kafka.instead = [wait]
    reader.run()
    assert (world.kafka.log, world.row().owner, world.row().position) == ([], None, None)


def test_the_pace():
    """A full page is followed at once, some records after 200 ms, and silence never waits longer than 500 ms."""
    assert pause_after(FULL_PAGE, 0.5) == 0
    assert pause_after(1, 0.5) == IDLE_SECONDS[0] == 0.2
    pauses = [0.0]
    for _ in range(5):
        pauses.append(pause_after(0, pauses[-1]))
    assert pauses[1] == 0.2
    assert pauses == sorted(pauses)
    assert pauses[-1] == IDLE_SECONDS[1] == 0.5
