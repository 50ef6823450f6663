"""What Kafka or a bridge brings back when its watermark is forgotten is never counted: it is a gap, to be recounted."""

from hypothesis import given
from hypothesis import strategies as st

from contracts.topic import CLOCKS_MS, STREAM_RETENTION_MS
from count_aggregator.counting import Counting
from count_aggregator.tally import tally
from count_aggregator.topic import KEPT_SECONDS, TOO_OLD_MS, TOPIC
from murmuration_worker.messages import Arrival

from .conftest import arrivals, event
from .memory import MemoryLedger

PARTITION = "FollowChanged/0"
TOPIC_ID = "topic-1"
HOUR_MS = 3_600_000
APART_MS = CLOCKS_MS // 6 - 1  # of each clock from the true time, either way
clocks = st.integers(-APART_MS, APART_MS)


def test_a_replay_behind_forgotten_watermarks_is_a_gap_and_counts_nothing():
    """However old its events are: they lie before the offset that was reached."""
    ledger = MemoryLedger()
    history = arrivals([event(n) for n in range(1, 300)])
    Counting(ledger).count(PARTITION, TOPIC_ID, history)
    ledger.forget()
    again = Counting(ledger)
    for start in (0, 100, 200):
        again.count(PARTITION, TOPIC_ID, history[start : start + 100])
    assert (ledger.followers["bob"], len(ledger.gaps)) == (299, 3)
    assert ledger.gaps[0].startswith(f"100 events between offsets 0 and 99 of topic {TOPIC_ID} ")
    writes = ledger.writes
    Counting(ledger).count(PARTITION, TOPIC_ID, history)
    assert (ledger.followers["bob"], ledger.writes) == (299, writes)


def test_a_replay_of_a_topic_made_again_is_counted():
    """Its offsets begin anew, and what the old topic reached says nothing about them."""
    ledger = MemoryLedger()
    Counting(ledger).count(PARTITION, TOPIC_ID, arrivals([event(n) for n in range(1, 9)]))
    Counting(ledger).count(PARTITION, "topic-2", arrivals([event(9)]))
    assert ledger.followers["bob"] == 9


def test_an_event_is_too_old_from_the_very_millisecond():
    """What was written then is counted, what was written before is a gap; a new owner finds both behind the place."""
    ledger = MemoryLedger()
    counting = Counting(ledger, now=lambda: 2 * TOO_OLD_MS / 1000)
    counting.count(PARTITION, TOPIC_ID, [Arrival(0, event(1), TOO_OLD_MS), Arrival(1, event(2), TOO_OLD_MS - 1)])
    assert ledger.followers["bob"] == 1
    assert [gap.split(" of ")[0] for gap in ledger.gaps] == ["1 events between offsets 1 and 1"]
    assert ledger.load(PARTITION).next_offset == 2
    assert ledger.marks == {"shard-1": 2}


def test_an_event_without_a_time_is_as_old_as_can_be():
    """Nobody can say that it was not counted before."""
    ledger = MemoryLedger()
    Counting(ledger).count(PARTITION, TOPIC_ID, [Arrival(0, event(1), 0)])
    assert (ledger.followers["bob"], len(ledger.gaps)) == (0, 1)


@given(
    counted_at=st.integers(0, 30 * 24 * HOUR_MS),
    copied_at=st.integers(0, STREAM_RETENTION_MS),
    forgotten_for=st.integers(0, 60 * 24 * HOUR_MS),
    bridge=clocks,
    first=clocks,
    second=clocks,
)
def test_no_copy_is_counted_once_its_watermark_may_be_gone(counted_at, copied_at, forgotten_for, bridge, first, second):
    """A change at 0 was counted then; a bridge published it again while the stream had it; Kafka keeps that for ever.

    The watermark is gone at the time that its worker's clock set; three clocks are hours apart.
    """
    gone_at = counted_at + first + KEPT_SECONDS * 1000
    read_at = gone_at + forgotten_for
    copy = Arrival(7, event(1), copied_at + bridge)
    result = tally([copy], {}, 9, reached=7, too_old_ms=read_at + second - TOO_OLD_MS)
    assert (result.followers, result.doubtful) == ({}, [7])


@given(age=st.integers(0, TOPIC.readable_ms), bridge=clocks, worker=clocks)
def test_nothing_is_too_old_that_kafka_has_by_its_contract(age, bridge, worker):
    """Clocks that are hours apart raise no false gap."""
    assert tally([Arrival(7, event(1), bridge)], {}, 9, reached=7, too_old_ms=age + worker - TOO_OLD_MS).doubtful == []
