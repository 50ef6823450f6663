"""Worker numbers, on the real table."""

import os
import random

import pytest

from tweet_service import worker_ids
from tweet_service.store import client
from tweet_service.worker_ids import SPAN_MS, WorkerIds

TABLE_PREFIX = os.environ.get("TABLE_PREFIX", "")


@pytest.mark.stack
class TestOnDynamoDB:
    """With a clock far ahead of every other's, so that numbers held by the stack's own services are free to us."""

    @pytest.fixture
    def clock(self):
        return [random.randrange(2**41, 2**42)]

    @pytest.fixture
    def bidder(self, clock, monkeypatch):
        """Processes that all want the same few numbers."""
        chosen = random.randrange(500, 1_000)
        monkeypatch.setattr(worker_ids.random, "sample", lambda *_: [chosen, chosen + 1])
        dynamodb = client()
        for worker in (chosen, chosen + 1):
            dynamodb.delete_item(TableName=f"{TABLE_PREFIX}worker_ids", Key={"worker_id": {"N": str(worker)}})
        return lambda: WorkerIds(dynamodb, TABLE_PREFIX, lambda: clock[0])

    def test_no_two_hold_the_same_number(self, bidder):
        """The second takes another."""
        one, two = bidder().claim(), bidder().claim()
        assert one.worker != two.worker

    def test_a_number_that_ran_out_begins_where_it_ended(self, bidder, clock):
        """Its last holder may have made ids up to there."""
        first = bidder().claim()
        clock[0] = first.until_ms + 1
        second = bidder().claim()
        assert (second.worker, second.start_ms) == (first.worker, first.until_ms)

    def test_a_holder_that_renews_keeps_it(self, bidder, clock):
        """Nobody else gets it, and its span moves on, never back."""
        holder = bidder()
        held = holder.claim()
        clock[0] += SPAN_MS - 1
        renewed = holder.renew(held)
        assert (renewed.worker, renewed.start_ms, renewed.until_ms) == (held.worker, held.start_ms, clock[0] + SPAN_MS)
        clock[0] -= 2 * SPAN_MS
        assert holder.renew(renewed).until_ms == renewed.until_ms

    def test_a_holder_that_lost_it_is_told(self, bidder, clock):
        """It was paused for longer than its span."""
        holder = bidder()
        held = holder.claim()
        clock[0] = held.until_ms + 1
        bidder().claim()
        assert holder.renew(held) is None
