"""One shard: what is acknowledged is checkpointed, what is not is repeated, and nothing is skipped."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from cdc_bridge.gaps import Policy
from cdc_bridge.kafka_publisher import PublishError, RefusedError
from cdc_bridge.leases import LeaseLostError
from cdc_bridge.lineage import RETENTION_MS, Row, ShardKey, State
from cdc_bridge.pages import FULL_PAGE, GapError, TrimmedError
from cdc_bridge.shard_reader import IDLE_SECONDS, ShardReader, pause_after
from cdc_bridge.tips import QUIET_MS
from contracts import TOPICS
from contracts.examples import codec
from murmuration_runtime.errors import StoreAwayError

from .memory import (
    LEASE_MS,
    AtOnce,
    MemoryKafka,
    MemoryLeases,
    MemoryShard,
    MemoryStreams,
    hold,
    run,
    run_in_time,
    take,
)
from .records import edge, history, record, user

CODECS = {name: codec(topic) for name, topic in TOPICS.items()}
SHARD = ShardKey("followers", "arn:followers", "shard")
NOW = 1_700_000_000_000
ENOUGH = 9  # tries at a gap, with their pauses: over 20 s
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

    def reader(policy=Policy.FAIL, of=SHARD):
        return ShardReader(
            of,
            hold(world.leases, SHARD.stream_arn, "shard", lambda: world.now),
            CODECS,
            lambda: world.streams.open(SHARD.stream_arn, "shard"),
            world.kafka.publisher,
            AtOnce(),
            policy,
            lambda: world.now,
            lambda: world.now,
        )

    def row():
        return world.leases.rows(SHARD.stream_arn)["shard"]

    world.reader, world.row = reader, row
    return world


def refuse(_messages):
    raise PublishError("refused")


def test_the_last_page_of_a_closed_shard_is_published_before_the_shard_is_finished(world):
    """Its records come with no next iterator: whoever looks at that first loses them."""
    run(world.reader())
    assert world.kafka.event_ids() == ALL
    assert (world.row().state, world.row().owner) == (State.ENDED, None)


def test_a_refused_page_is_published_again_and_not_checkpointed_before(world):
    """The checkpoint stays where Kafka's acknowledgement was."""
    positions, reader = [], world.reader()
    world.kafka.instead = [lambda *_: None, refuse, lambda *_: positions.append(reader.lease.progress.position)]
    run(reader)
    assert world.kafka.event_ids() == ALL
    assert positions == ["000000000000000000002"]


@pytest.mark.parametrize("error", [StoreAwayError("away"), RuntimeError("a bug")])
def test_an_error_in_reading_costs_nothing(world, error, caplog):
    """Whatever it was, it is logged once and the checkpoint is where to go on."""
    world.streams.failures = [error, error]
    run(world.reader())
    assert world.kafka.event_ids() == ALL
    assert [entry.message for entry in caplog.records].count("shard stalled; retrying from the checkpoint") == 1


def test_a_new_tail_goes_on_behind_the_checkpoint(world):
    """A crash repeats at most the page that it was on."""
    crashed = world.reader()
    world.kafka.instead = [lambda *_: None, lambda *_: crashed.stop() or refuse(None)]
    run(crashed)
    run(world.reader())
    assert world.kafka.event_ids() == ALL


def test_a_dead_letter_takes_its_place_and_holds_up_nobody(world, shard):
    """The page goes on behind it."""
    del shard.records[2]["dynamodb"]["NewImage"]["followed_at"]
    run(world.reader())
    assert world.kafka.event_ids() == ALL
    assert [message.topic for message in world.kafka.log].index("FollowChanged.dlq") == 2
    assert world.row().state is State.ENDED


class TestTheLastStateOfAKey:
    """Its record gives two messages: the state, and behind it the tombstone."""

    @pytest.fixture
    def shard(self):
        rows = [user(version=1), user(version=2, followers_count=1), user(version=3, deleted_at=9)]
        return MemoryShard("shard", records=history(rows), closed=True)

    @pytest.fixture
    def reader(self, world):
        return lambda: world.reader(of=replace(SHARD, table="users"))

    def test_it_is_checkpointed_when_kafka_has_both(self, world, reader):
        """Whoever dies in between tells both again, and the tombstone is the last word."""
        world.streams.page_size = 3
        first = reader()

        def first_only(messages):
            world.kafka.log += messages[:3]
            first.stop()
            raise PublishError("the producer has ended")

        world.kafka.instead = [first_only]
        run(first)
        assert world.row().position is None
        run(reader())
        assert [message.value is None for message in world.kafka.log] == 6 * [False] + [True]
        assert world.row().position == f"{3:021}"

    @pytest.mark.parametrize(
        ("refused", "told"),
        [("state", ["state", "state", "letter", "tombstone"]), ("tombstone", 4 * ["state"] + ["letter"])],
    )
    def test_a_refusal_of_one_leaves_the_other(self, world, reader, refused, told):
        """A dead letter comes in the place of the one that Kafka refuses; a state before it may be told again."""

        def kind(message):
            return "letter" if message.refusal else "tombstone" if message.value is None else "state"

        class OfTheLast(MemoryKafka):
            def publish(self, messages):
                if any(kind(it) == refused and dict(it.headers)["version"] == b"3" for it in messages):
                    raise RefusedError("no")
                super().publish(messages)

        world.kafka = OfTheLast()
        run(reader())
        assert [kind(message) for message in world.kafka.log] == told
        assert world.row().state is State.ENDED


class Picky(MemoryKafka):
    """A Kafka that takes no message about these followers, nor with them anything that was sent at once."""

    def __init__(self, *followers, dead_letters=True):
        super().__init__()
        self._followers = {name.encode() for name in followers}
        self._dead_letters = dead_letters

    def publish(self, messages):
        for message in messages:
            bad = dict(message.headers)["follower_id"] in self._followers
            if bad and (message.refusal is None or (message.value and not self._dead_letters)):
                raise RefusedError("too large")
        super().publish(messages)


@pytest.mark.parametrize("dead_letters", [True, False])
def test_what_kafka_refuses_twice_is_a_dead_letter_in_its_place_and_the_rest_goes_on(world, caplog, dead_letters):
    """With its page, then alone; its neighbours arrive once. If it is too large even for that, without its record."""
    world.kafka = Picky("f2", "f4", dead_letters=dead_letters)
    run(world.reader())
    assert world.kafka.event_ids() == ALL
    letters = [message for message in world.kafka.log if message.topic == "FollowChanged.dlq"]
    assert [dict(message.headers)["sequence_number"][-1:] for message in letters] == [b"2", b"4"]
    assert all(dict(letter.headers)["reason"] == b"too large" for letter in letters)
    assert all(bool(letter.value) == dead_letters for letter in letters)
    assert world.row().state is State.ENDED
    assert any("event event-2: too large" in getattr(entry, "reason", "") for entry in caplog.records)
    truncated = [entry for entry in caplog.records if entry.message.startswith("dead letter truncated")]
    assert [entry.event_id for entry in truncated] == ([] if dead_letters else ["event-2", "event-4"])
    assert all(entry.kept.startswith("0 of ") for entry in truncated)


def test_what_kafka_refuses_only_in_company_is_no_dead_letter(world):
    """A batch that is too large as a whole is sent one by one, and each arrives."""

    def too_many(messages):
        if len(messages) > 1:
            raise RefusedError("too large")

    world.kafka.instead = [too_many, too_many, too_many, too_many]
    run(world.reader())
    assert world.kafka.event_ids() == ALL
    assert all(message.refusal is None for message in world.kafka.log)


def test_a_shard_says_until_when_it_is_published(world, shard):
    """As far as its records, and, while nothing more comes, as far as a stream shows everything."""
    shard.closed = False
    world.now = NOW
    reader, reads = world.reader(), []

    def look():
        reads.append(reader.lease.progress.tip_at)
        world.now += QUIET_MS
        reader.lease.renew()
        if len(reads) == 7:
            reader.stop()

    world.streams.before_page = look
    run(reader)
    assert [read - NOW for read in reads] == [0, 0, 0, 0, 0, 3 * QUIET_MS, 4 * QUIET_MS]


def test_the_end_of_a_closed_shard_is_no_tip(world, shard):
    """It may have closed long ago, and its child been written to ever since: the child is not published that far."""
    shard.records.clear()
    world.now = NOW
    reader = world.reader()
    world.now += 5_000
    run(reader)
    assert (world.row().state, world.row().tip_at) == (State.ENDED, NOW)


@pytest.mark.parametrize("state", [State.OPENED, State.LEFT, State.SKIPPING])
def test_a_shard_that_was_not_begun_for_a_day_is_a_gap(world, state):
    """The stream gives what is left without a word; what was before it, nobody can know."""
    world.leases.note(SHARD.stream_arn, Row("shard", state, since=world.now))
    world.now += RETENTION_MS
    run(world.reader())
    assert "not begun in time" in world.row().gap
    assert (world.kafka.log, world.row().state) == ([], State.GAP)


def test_a_gap_ends_the_reading_and_is_told(world, caplog):
    """No record after it is published, and the shard is not finished, so its children wait."""
    world.streams.failures = [GapError("trimmed")] * ENOUGH
    reader = world.reader()
    run_in_time(reader, world)
    assert world.row().gap == "unreadable: trimmed; published up to nothing"
    assert (world.kafka.log, world.row().state, world.row().owner) == ([], State.GAP, None)
    assert any(entry.levelname == "ERROR" and entry.shard_id == "shard" for entry in caplog.records)


def test_what_is_refused_for_no_reason_is_no_gap(world):
    """AWS says it again if it means it."""
    world.streams.failures = [GapError("ValidationException")] * 2
    run(world.reader())
    assert world.kafka.event_ids() == ALL
    assert world.row().gap is None


@pytest.mark.parametrize("state", [State.LEFT, State.OPENED])
def test_errors_within_a_second_are_neither_an_end_nor_a_gap(world, state):
    """Several in a row mean nothing: what the stream lacks it lacks for 20 seconds."""
    world.leases.note(SHARD.stream_arn, Row("shard", state, since=world.now))
    world.streams.failures = [GapError("x")] * 3
    run_in_time(world.reader(), world)
    assert world.kafka.event_ids() == ALL
    assert world.row().gap is None


def test_a_quiet_shard_goes_on_at_its_oldest_record(world, shard):
    """Its last record was trimmed while it was read to its tip: nothing is lost, and nothing is told."""
    world.leases.note(SHARD.stream_arn, Row("shard", State.READING, f"{2:021}", tip_at=world.now))
    del shard.records[:2]
    world.streams.failures = [TrimmedError("trimmed")] * ENOUGH
    run_in_time(world.reader(), world)
    assert world.kafka.event_ids() == ALL[2:]
    assert (world.row().gap, world.row().state) == (None, State.ENDED)


class TestNothingIsLeft:
    """Of what was left when the reader began, all is trimmed: no gap, and the end only of a shard that has one."""

    @pytest.fixture(autouse=True)
    def nothing_is_left(self, world):
        world.leases.note(SHARD.stream_arn, Row("shard", State.LEFT, since=world.now))
        world.streams.failures = [GapError("trimmed")] * ENOUGH

    def test_a_closed_shard_is_finished(self, world):
        """Its children may be read."""
        run_in_time(world.reader(), world)
        assert (world.kafka.log, world.row().gap, world.row().state) == ([], None, State.ENDED)

    def test_an_open_shard_is_read_on(self, world, shard):
        """Whatever the stream said: somebody may write to it."""
        shard.closed = False
        reader = world.reader()
        world.kafka.instead = [lambda _: reader.stop()]
        run_in_time(reader, world)
        assert world.kafka.event_ids() == ALL[:2]


def test_the_next_page_is_fetched_while_kafka_takes_this_one_and_waits_for_it(world, shard):
    """One page ahead and no more; a gap behind this page is found when this page is published."""
    world.streams.page_size = FULL_PAGE
    shard.records[:] = [record(None, edge(), sequence=n) for n in range(1, 3 * FULL_PAGE + 1)]
    world.kafka.away = True
    pages, reader = [], world.reader()
    world.streams.before_page = lambda: pages.append(len(world.kafka.log))
    for _ in range(10):
        reader.step()
    assert (pages, world.kafka.log, reader.lease.progress.position) == ([0, 0], [], None)
    world.kafka.away = False
    run(reader)
    assert world.kafka.event_ids() == [f"event-{n}" for n in range(1, 3 * FULL_PAGE + 1)]


def test_a_page_that_was_fetched_ahead_is_not_published_when_the_one_before_it_fails(world, shard):
    """The reader begins again at the checkpoint, and reads both anew."""
    world.streams.page_size = FULL_PAGE
    shard.records[:] = [record(None, edge(), sequence=n) for n in range(1, 2 * FULL_PAGE + 1)]
    world.kafka.instead = [refuse]
    run(world.reader())
    assert world.kafka.event_ids() == [f"event-{n}" for n in range(1, 2 * FULL_PAGE + 1)]


def test_a_lease_that_ran_out_produces_nothing(world):
    """A process that slept must not produce what somebody else has long published."""
    reader = world.reader()
    world.now += LEASE_MS
    run(reader)
    assert (world.kafka.log, world.row().position) == ([], None)


def test_a_lease_lost_while_publishing_leaves_the_checkpoint_alone(world, caplog):
    """The page may be on Kafka twice; the new owner's checkpoint stands, and nothing more is produced."""
    reader = world.reader()

    def lose(*_):
        take(world.leases, SHARD.stream_arn, "shard", "other", world.now)
        with pytest.raises(LeaseLostError):
            reader.lease.renew()

    world.kafka.instead = [lose]
    run(reader)
    assert world.kafka.event_ids() == ALL[:2]
    assert (world.row().owner, world.row().position) == ("other", None)
    assert [entry.message for entry in caplog.records] == ["lease lost"]


def test_stop_finishes_the_page_and_gives_the_lease_back(world, shard):
    """The next owner repeats nothing."""
    shard.closed = False
    reader = world.reader()
    world.kafka.instead = [lambda _: reader.stop()]
    run(reader)
    assert world.kafka.event_ids() == ALL[:2]
    assert (world.row().owner, world.row().position) == (None, f"{2:021}")


def test_stopping_at_once_leaves_a_page_that_kafka_does_not_take(world):
    """SIGTERM while Kafka is away: the lease goes back, the page is for the next owner."""
    world.kafka.away, reader = True, world.reader()
    reader.step()
    reader.stop()
    assert reader.step() is not None
    reader.stop(at_once=True)
    run(reader)
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


def test_each_event_is_a_span_of_the_trace_that_its_row_carries(world, shard, spans):
    """From when its page was begun; what carries none begins a trace, under its event_id."""
    shard.records[1]["dynamodb"]["NewImage"]["traceparent"] = {"S": f"00-{'a' * 32}-{'b' * 16}-01"}
    run(world.reader())
    made = {span.attributes["event_id"]: span for span in spans()}
    assert sorted(made) == ALL
    assert {(span.name, span.kind.name) for span in made.values()} == {("publish FollowChanged", "PRODUCER")}
    assert [event_id for event_id, span in made.items() if span.parent] == ["event-2"]
    assert f"{made['event-2'].context.trace_id:032x}" == "a" * 32
