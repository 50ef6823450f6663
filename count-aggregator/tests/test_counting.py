"""Deciding and recording until it is done, on a ledger in memory and on DynamoDB."""

import itertools
import json
import logging
import os
from dataclasses import replace

import pytest
from botocore.exceptions import ReadTimeoutError
from hypothesis import given, settings
from hypothesis import strategies as st

from count_aggregator.counting import Counting
from count_aggregator.ledger import ACTIONS, PLACE, ROOM, Ledger, OvertakenError, Place
from count_aggregator.tally import tally
from murmuration_runtime import dynamo
from murmuration_runtime.dynamo_wire import Answer
from murmuration_runtime.errors import StoreAwayError
from murmuration_runtime.metrics import METRICS
from murmuration_testkit.unkind_aws import Unkindness
from murmuration_worker.messages import Arrival

from .conftest import arrivals, event, handle, histories, truth
from .memory import MemoryLedger

PARTITION = "FollowChanged/0"
TOPIC_ID = "topic-1"
KEPT_S = 3600
OFTEN = dict.fromkeys(
    [
        Unkindness.CONFLICT,
        Unkindness.HANG,
        Unkindness.LATE_WRITE,
        Unkindness.LOST_ANSWER,
        Unkindness.REPEATED_WRITE,
        Unkindness.THROTTLING,
        Unkindness.UNPROCESSED_KEYS,
    ],
    0.1,
)


REFUSALS = {
    "conflict": (400, "TransactionCanceledException", ["None", "TransactionConflict"]),
    "in progress": (400, "TransactionInProgressException", []),
    "throttled": (400, "ThrottlingException", []),
    "throughput": (400, "ProvisionedThroughputExceededException", []),
    "internal": (500, "InternalServerError", []),
}


@settings(deadline=None)
@given(histories(), st.integers(0, 2**32), st.data())
def test_faults_and_redelivery_in_any_order_change_nothing(history, seed, data):
    """Lost requests, lost answers, crashes and a second owner: each event counts once."""
    ledger = MemoryLedger(seed, OFTEN)
    owners = [Counting(ledger, sleep=ledger.aws.sleep, now=ledger.aws.time) for _ in range(2)]
    done = 0
    while done < len(history):
        start = data.draw(st.integers(0, done))
        done = data.draw(st.integers(done + 1, len(history)))
        owner = owners[data.draw(st.integers(0, 1))]
        handle(owner, PARTITION, TOPIC_ID, arrivals(history[start:done], start), sleep=ledger.aws.sleep)
    ledger.aws.sleep(60)  # what comes late has come
    expected = truth(history)
    assert (+ledger.followers, -ledger.followers) == (+expected[0], -expected[0])
    assert (+ledger.following, -ledger.following) == (+expected[1], -expected[1])
    assert ledger.gaps == []


def test_a_batch_of_distinct_users_is_split_and_a_viral_one_is_not():
    """300 pairs need seven transactions of 100 actions; 300 fans of one star need four. All but the last are full."""
    ledger = MemoryLedger()
    Counting(ledger).count(PARTITION, TOPIC_ID, arrivals([event(n, f"a-{n}", f"b-{n}") for n in range(1, 301)]))
    assert ledger.sizes == [ACTIONS] * 6 + [2 + 2 * 6]
    ledger = MemoryLedger()
    Counting(ledger).count(PARTITION, TOPIC_ID, arrivals([event(n, f"a-{n}", "star") for n in range(1, 301)]))
    assert ledger.sizes == [ACTIONS] * 3 + [3 + 9]


def test_the_lag_of_unfollows_is_measured_by_the_streams_time():
    """They have no other; one that a bridge wrote without it is not measured, nor is a follow."""
    unfollow = event(2, following=False)
    earlier, later = replace(unfollow, recorded_at=3_000), replace(event(3, following=False), recorded_at=8_000)
    for events, seconds in (
        ([replace(event(1), occurred_at=1_000, recorded_at=0)], 0),
        ([unfollow], 0),
        ([earlier, later], 7),
    ):
        before = METRICS.get_sample_value("count_aggregator_unfollow_lag_seconds_sum")
        Counting(MemoryLedger(), now=lambda: 10).count(PARTITION, TOPIC_ID, arrivals(events))
        assert METRICS.get_sample_value("count_aggregator_unfollow_lag_seconds_sum") == before + seconds


def test_what_vanished_is_told_once_and_only_when_it_is_written(caplog):
    """Offsets that never came are a gap; a memory that another owner overtook sees none."""
    ledger = MemoryLedger()
    first, second = (Counting(ledger, sleep=lambda _: None) for _ in range(2))
    history = arrivals([event(n) for n in range(1, 10)])
    first.count(PARTITION, TOPIC_ID, history[:2])
    second.count(PARTITION, TOPIC_ID, history[2:5])
    first.count(PARTITION, TOPIC_ID, history[5:6])  # it believes that 2 comes next
    assert ledger.gaps == []
    first.count(PARTITION, TOPIC_ID, history[8:])
    first.count(PARTITION, TOPIC_ID, history[5:])
    assert ledger.gaps == [f"offsets 6 to 7 of topic {TOPIC_ID}"]
    told = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert [record.gap for record in told] == ledger.gaps


def test_what_vanished_before_the_first_event_is_a_gap_too():
    """A group that begins late has missed what Kafka no longer keeps."""
    ledger = MemoryLedger()
    Counting(ledger).count(PARTITION, TOPIC_ID, arrivals([event(1)], first=5))
    assert ledger.gaps == [f"offsets 0 to 4 of topic {TOPIC_ID}"]


def test_a_topic_made_again_is_a_gap():
    """Its offsets begin anew, and nobody knows what the old one still had."""
    ledger = MemoryLedger()
    Counting(ledger).count(PARTITION, TOPIC_ID, arrivals([event(1), event(2)]))
    again = Counting(ledger)
    again.count(PARTITION, "topic-2", arrivals([event(3)]))
    again.count(PARTITION, "topic-2", arrivals([event(4)], first=1))
    assert ledger.gaps == [f"topic {TOPIC_ID} counted up to offset 2 was re-created as topic-2"]
    assert ledger.load(PARTITION) == Place(3, 2, "topic-2", gaps=1)
    assert ledger.followers["bob"] == 4


def test_repeats_and_dead_letters_move_the_offset_without_a_gap():
    """The producer's own repeats and poison have offsets of their own, and a new owner expects what follows them."""
    ledger = MemoryLedger()
    Counting(ledger).count(PARTITION, TOPIC_ID, arrivals([event(1), event(1)]))
    Counting(ledger).count(PARTITION, TOPIC_ID, [Arrival(2, None), Arrival(3, event(1))])
    Counting(ledger).count(PARTITION, TOPIC_ID, [Arrival(4, event(2))])
    assert ledger.gaps == []
    assert ledger.load(PARTITION).next_offset == 5
    assert ledger.followers["bob"] == 2


def test_a_replay_writes_nothing():
    """The whole topic read again from the beginning costs reads alone."""
    ledger = MemoryLedger()
    history = arrivals([event(n) for n in range(1, 50)])
    Counting(ledger).count(PARTITION, TOPIC_ID, history)
    writes = ledger.writes
    Counting(ledger).count(PARTITION, TOPIC_ID, history)
    assert ledger.writes == writes


def test_a_batch_asks_only_for_shards_that_are_new_to_it():
    """A thousand shards come and go; each is asked for once, and few are remembered."""
    ledger = MemoryLedger()
    counting = Counting(ledger)
    for generation in range(1_000):
        for half in range(2):
            one = event(half, shard=f"generation-{generation}")
            counting.count(PARTITION, TOPIC_ID, [Arrival(2 * generation + half, one)])
    assert ledger.asked == 1_000
    assert ledger.followers["bob"] == 2_000
    assert len(counting._remembered[PARTITION].watermarks) <= 100  # noqa: SLF001 - what is held is the promise


def test_an_unforeseen_error_is_not_retried():
    """A bug must end the process, not spin in it."""

    class Broken(MemoryLedger):
        def load(self, partition_id):
            raise RuntimeError(partition_id)

    with pytest.raises(RuntimeError):
        Counting(Broken()).count(PARTITION, TOPIC_ID, arrivals([event(1)]))


@pytest.mark.stack
class TestOnDynamoDB:
    """The transaction itself."""

    @pytest.fixture
    def dynamodb(self):
        return dynamo.client(attempts=1)

    @pytest.fixture
    def ledger(self, dynamodb):
        return Ledger(dynamodb, os.environ.get("TABLE_PREFIX", ""), KEPT_S)

    @pytest.fixture
    def partition(self, somebody):
        return f"test/{somebody()}"

    @pytest.fixture
    def counts(self, dynamodb):
        def read(user):
            table = os.environ.get("TABLE_PREFIX", "") + "users"
            item = dynamodb.get_item(TableName=table, Key={"user_id": {"S": user}}, ConsistentRead=True).get("Item", {})
            return tuple(int(item.get(name, {"N": "0"})["N"]) for name in ("followers_count", "following_count"))

        return read

    def test_events_are_counted_once_whoever_replays_them(self, ledger, partition, counts, somebody):
        """A second process with no memory reads the positions from the ledger."""
        alice, bob = somebody(), somebody()
        events = arrivals([event(1, alice, bob), event(2, alice, bob, following=False), event(3, alice, bob)])
        Counting(ledger).count(partition, TOPIC_ID, events[:2])
        Counting(ledger).count(partition, TOPIC_ID, events)
        Counting(ledger).count(partition, TOPIC_ID, events)
        assert (counts(alice), counts(bob)) == ((0, 1), (1, 0))
        assert ledger.load(partition) == Place(2, 3, TOPIC_ID)

    def test_a_stale_owner_changes_nothing(self, ledger, partition, counts, somebody):
        """Of two that loaded the same version one writes; the other's transaction fails whole."""
        alice, bob = somebody(), somebody()
        for stale in (Place(), ledger.load(partition)):
            one = tally([Arrival(0, event(1, alice, bob))], {}, ROOM)
            if stale == ledger.load(partition):
                ledger.write(partition, one, stale, Place(0, 1, TOPIC_ID), [], 0)
            with pytest.raises(OvertakenError, match="ConditionalCheckFailed"):
                ledger.write(partition, one, stale, Place(0, 1, TOPIC_ID), [], 0)
        assert counts(bob) == (1, 0)

    def test_two_owners_that_alternate_count_once(self, ledger, partition, counts, somebody):
        """A remembered version that was overtaken is loaded again."""
        alice, bob = somebody(), somebody()
        one, two = Counting(ledger), Counting(ledger)
        events = arrivals([event(1, alice, bob), event(2, alice, bob, following=False), event(3, alice, bob)])
        one.count(partition, TOPIC_ID, events[:1])
        two.count(partition, TOPIC_ID, events[:2])
        one.count(partition, TOPIC_ID, events)
        assert (counts(alice), counts(bob)) == ((0, 1), (1, 0))

    def test_a_full_transaction_fits(self, ledger, partition, counts, somebody):
        """DynamoDB takes as many actions as ROOM says."""
        star, fans = somebody(), [somebody() for _ in range(200)]
        Counting(ledger).count(partition, TOPIC_ID, arrivals([event(n, fan, star) for n, fan in enumerate(fans, 1)]))
        assert counts(star) == (200, 0)
        assert all(counts(fan) == (0, 1) for fan in fans[::50])

    def test_watermarks_of_many_shards_are_all_found(self, ledger, partition, somebody):
        """More than one request holds."""
        events = [event(n, somebody(), "b", shard=f"s-{n}") for n in range(150)]
        Counting(ledger).count(partition, TOPIC_ID, arrivals(events))
        marks = ledger.watermarks(partition, [f"s-{n}" for n in range(160)])
        assert marks == {f"s-{n}": n if n < 150 else -1 for n in range(160)}

    def test_a_watermark_expires_when_nothing_can_bring_its_shard_back(self, ledger, dynamodb, partition, somebody):
        """TTL wants seconds; the place itself stays for good."""
        Counting(ledger, now=lambda: 4_000_000_000.5).count(partition, TOPIC_ID, arrivals([event(1, somebody(), "b")]))
        table = os.environ.get("TABLE_PREFIX", "") + "ledgers"

        def item(shard):
            return dynamodb.get_item(
                TableName=table, Key={"partition_id": {"S": partition}, "shard_id": {"S": shard}}, ConsistentRead=True
            )["Item"]

        assert item("shard-1")["expires_at"] == {"N": str(4_000_000_000 + KEPT_S)}
        assert "expires_at" not in item(PLACE)

    def test_gaps_stay_open_until_those_very_ones_are_closed(self, ledger, partition, somebody):
        """A gap that opens during a recount is not closed by it."""
        counting = Counting(ledger)
        counting.count(partition, TOPIC_ID, arrivals([event(1, somebody(), "b")], first=3))
        before = ledger.open_gaps([partition])
        assert before == {partition: [f"offsets 0 to 2 of topic {TOPIC_ID}"]}
        counting.count(partition, TOPIC_ID, arrivals([event(2, somebody(), "b")], first=9))
        assert not ledger.close_gaps(partition, before[partition])
        assert ledger.close_gaps(partition, ledger.open_gaps([partition])[partition])
        assert ledger.open_gaps([partition]) == {}

    @pytest.mark.parametrize("trouble", [*REFUSALS, "an answer that is lost"])
    def test_whatever_aws_answers_the_sum_is_right(self, dynamodb, ledger, partition, counts, somebody, trouble):
        """Conflicts, throttling and errors that Local never has; and a write that happened and nobody heard of it."""
        alice, bob = somebody(), somebody()
        asked = spoil(dynamodb, trouble, times=2)
        counting = Counting(ledger, sleep=lambda _: None)
        handle(counting, partition, TOPIC_ID, arrivals([event(1, alice, bob), event(2, somebody(), bob)]))
        transactions = {
            "an answer that is lost": {1},
            "conflict": {3, 4},
        }  # one is found written; one may be cut in two
        assert next(asked) in transactions.get(trouble, {3})
        assert (counts(alice), counts(bob)) == ((0, 1), (2, 0))

    @pytest.mark.usefixtures("dynamodb_away")
    def test_a_store_that_is_away_invites_another_try(self):
        """No answer is no error of ours."""
        away = Ledger(dynamo.client(attempts=1), "", KEPT_S)
        for attempt in (lambda: away.load(PARTITION), lambda: away.watermarks(PARTITION, ["s"])):
            with pytest.raises(StoreAwayError, match=r"127\.0\.0\.1:9"):
                attempt()


def spoil(dynamodb, trouble, times):
    """Answer the first transactions as AWS does when there is trouble; return the number of transactions asked for."""
    asked = itertools.count()

    def lose(**_):
        if next(asked) < times:
            raise ReadTimeoutError(endpoint_url="DynamoDB's")

    def refuse(**_):
        if next(asked) >= times:
            return None
        status, code, reasons = REFUSALS[trouble]
        body = {
            "__type": f"com.amazonaws.dynamodb.v20120810#{code}",
            "CancellationReasons": [{"Code": r} for r in reasons],
        }
        return Answer(status, json.dumps(body).encode())

    when, what = ("before-send", refuse) if trouble in REFUSALS else ("after-call", lose)
    dynamodb.meta.events.register(f"{when}.dynamodb.TransactWriteItems", what)
    return asked
