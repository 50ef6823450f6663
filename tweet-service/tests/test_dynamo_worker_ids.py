"""Worker numbers, on the real table."""

import os
import random
import subprocess
import sys
import threading
from contextlib import ExitStack
from itertools import islice
from pathlib import Path

import pytest

from murmuration_runtime.dynamo import client
from murmuration_runtime.errors import StoreAwayError
from tweet_service.dynamo_worker_ids import SPAN_MS, DynamoWorkerIds

TABLE_PREFIX = os.environ.get("TABLE_PREFIX", "")


@pytest.mark.stack
class TestOnDynamoDB:
    """With a clock far ahead of every other's, so that numbers held by the stack's own services are free to us."""

    @pytest.fixture
    def clock(self):
        return [random.randrange(2**41, 2**42)]

    @pytest.fixture
    def bidder(self, clock):
        """Processes that all want the same number, or two, beyond those that real ones take."""
        chosen = random.randrange(2**20, 2**50)
        dynamodb = client()
        return lambda count=1: DynamoWorkerIds(dynamodb, TABLE_PREFIX, lambda: clock[0], range(chosen, chosen + count))

    def test_no_two_hold_the_same_number(self, bidder):
        """The second takes another."""
        one, two = bidder(2).claim(), bidder(2).claim()
        assert one.worker != two.worker
        with pytest.raises(StoreAwayError, match="all 2 worker numbers are taken"):
            bidder(2).claim()

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


@pytest.mark.stack
def test_processes_that_are_killed_and_started_again_make_no_id_twice():
    """Three generations of two; each has numbers of the one before, killed just now, and the same time on its clock."""
    script, first = Path(__file__).with_name("makes_ids.py"), random.randrange(2**20, 2**50)
    made = []
    for generation in range(3):
        ahead = generation * (SPAN_MS + 1)
        command = [sys.executable, str(script), str(first), str(1_700_000_000_000), str(ahead)]
        with ExitStack() as ending:
            processes = [
                ending.enter_context(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))  # noqa: S603
                for _ in range(2)
            ]
            for process in processes:
                ending.callback(process.kill)
                deadline = threading.Timer(30, process.kill)
                deadline.start()
                ending.callback(deadline.cancel)
            for process in processes:
                ids = [int(line) for line in islice(process.stdout, 2_000)]
                assert len(ids) == 2_000
                assert ids == sorted(ids)
                made += ids
    assert len(set(made)) == len(made)
    assert {tweet_id >> 12 & 1023 for tweet_id in made} == {0, 1}
