"""Deciding and recording until it is done, on a ledger in memory and on DynamoDB."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from count_aggregator.counting import Counting
from count_aggregator.ledger import Ledger, TryAgainError, client
from count_aggregator.tally import tally

from .conftest import event, histories
from .memory import MemoryLedger
from .test_tally import truth

PARTITION = "FollowChanged/0"


@given(histories(), st.lists(st.sampled_from(["lost", "unknown", None]), max_size=10), st.data())
def test_faults_and_redelivery_in_any_order_change_nothing(history, faults, data):
    """Lost requests, lost answers, crashes and a second owner: each event counts once."""
    ledger = MemoryLedger(faults)
    owners = [Counting(ledger, sleep=lambda _: None) for _ in range(2)]
    done = 0
    while done < len(history):
        start = data.draw(st.integers(0, done))
        done = data.draw(st.integers(done + 1, len(history)))
        owners[data.draw(st.integers(0, 1))].count(PARTITION, history[start:done])
    expected = truth(history)
    assert (+ledger.followers, -ledger.followers) == (+expected[0], -expected[0])
    assert (+ledger.following, -ledger.following) == (+expected[1], -expected[1])


def test_a_batch_of_distinct_users_is_split_and_a_viral_one_is_not():
    """300 pairs need seven transactions of 100 actions; 300 fans of one star need four."""
    ledger = MemoryLedger()
    Counting(ledger).count(PARTITION, [event(n, f"a-{n}", f"b-{n}") for n in range(1, 301)])
    assert ledger.writes == 7
    ledger = MemoryLedger()
    Counting(ledger).count(PARTITION, [event(n, f"a-{n}", "star") for n in range(1, 301)])
    assert ledger.writes == 4


def test_an_unforeseen_error_is_not_retried():
    """A bug must end the process, not spin in it."""

    class Broken(MemoryLedger):
        def load(self, partition_id):
            raise RuntimeError(partition_id)

    with pytest.raises(RuntimeError):
        Counting(Broken()).count(PARTITION, [event(1)])


@pytest.mark.stack
class TestOnDynamoDB:
    """The transaction itself."""

    @pytest.fixture
    def dynamodb(self):
        return client()

    @pytest.fixture
    def ledger(self, dynamodb):
        return Ledger(dynamodb, os.environ.get("TABLE_PREFIX", ""))

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
        events = [event(1, alice, bob), event(2, alice, bob, following=False), event(3, alice, bob)]
        Counting(ledger).count(partition, events[:2])
        Counting(ledger).count(partition, events)
        Counting(ledger).count(partition, events)
        assert (counts(alice), counts(bob)) == ((0, 1), (1, 0))

    def test_a_stale_owner_changes_nothing(self, ledger, partition, counts, somebody):
        """Of two that loaded the same version one writes; the other's transaction fails whole."""
        alice, bob = somebody(), somebody()
        stale = ledger.load(partition)
        ledger.write(partition, tally([event(1, alice, bob)], {}, 100), stale)
        with pytest.raises(TryAgainError, match="ConditionalCheckFailed"):
            ledger.write(partition, tally([event(1, alice, bob)], {}, 100), stale)
        assert counts(bob) == (1, 0)

    def test_two_owners_that_alternate_count_once(self, ledger, partition, counts, somebody):
        """A remembered version that was overtaken is loaded again."""
        alice, bob = somebody(), somebody()
        one, two = Counting(ledger), Counting(ledger)
        one.count(partition, [event(1, alice, bob)])
        two.count(partition, [event(1, alice, bob), event(2, alice, bob, following=False)])
        one.count(partition, [event(1, alice, bob), event(2, alice, bob, following=False), event(3, alice, bob)])
        assert (counts(alice), counts(bob)) == ((0, 1), (1, 0))

    def test_a_full_transaction_fits(self, ledger, partition, counts, somebody):
        """DynamoDB takes as many actions as ROOM says."""
        star, fans = somebody(), [somebody() for _ in range(200)]
        Counting(ledger).count(partition, [event(n, fan, star) for n, fan in enumerate(fans, 1)])
        assert counts(star) == (200, 0)
        assert all(counts(fan) == (0, 1) for fan in fans[::50])

    def test_a_store_that_is_away_invites_another_try(self, monkeypatch):
        """No answer is no error of ours."""
        monkeypatch.setenv("AWS_ENDPOINT_URL_DYNAMODB", "http://127.0.0.1:9")
        with pytest.raises(TryAgainError, match=r"127\.0\.0\.1:9"):
            Ledger(client(), "").load(PARTITION)
