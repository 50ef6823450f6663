"""Known faults: each test is a promise that is not kept yet. Whoever mends one takes its mark away."""

from contextlib import suppress
from types import SimpleNamespace

import pytest

from count_aggregator.counting import Counting
from count_aggregator.ledger import PLACE, ROOM, Ledger, OvertakenError, Place
from count_aggregator.tally import tally
from count_aggregator.topic import KEPT_SECONDS

from .conftest import arrivals, event

PARTITION = "FollowChanged/0"
TOPIC_ID = "topic-1"
EVENTS = arrivals([event(n) for n in (1, 2, 3)])  # alice follows bob three times, as far as counts are concerned
DAY_S = 24 * 3600
SEGMENT_S = 7 * DAY_S  # Kafka's segment.ms: a record lives until the newest of its segment is too old

known_fault = pytest.mark.xfail(strict=True, raises=AssertionError)


class CancelledError(Exception):
    """What boto3 calls TransactionCanceledException."""


class ItemByItem:
    """A DynamoDB whose readers see a transaction in the middle, as AWS allows."""

    exceptions = SimpleNamespace(TransactionCanceledException=CancelledError)

    def __init__(self):
        self.items = {}
        self.after_the_place = lambda: None

    def count(self, user):
        return self.items["users", user]["followers_count"]

    def expire(self, now):
        """Delete what TTL deletes."""
        self.items = {
            key: item
            for key, item in self.items.items()
            if key[0] == "users" or int(item.get("expires_at", {"N": str(now)})["N"]) >= now
        }

    def get_item(self, TableName, Key, **_):  # noqa: N803
        item = self.items.get(_key(TableName, Key))
        return {"Item": item} if item else {}

    def batch_get_item(self, RequestItems):  # noqa: N803
        ((table, wanted),) = RequestItems.items()
        return {
            "Responses": {table: [self.items[k] for key in wanted["Keys"] if (k := _key(table, key)) in self.items]}
        }

    def transact_write_items(self, TransactItems):  # noqa: N803
        place, *others = TransactItems
        self._move(place["Update"])
        self.after_the_place()
        for action in others:
            if "Put" in action:
                item = action["Put"]["Item"]
                self.items["ledgers", item["partition_id"]["S"], item["shard_id"]["S"]] = item
            else:
                update = action["Update"]
                counts = self.items.setdefault(_key("users", update["Key"]), {"followers_count": 0})
                counts["followers_count"] += int(update["ExpressionAttributeValues"][":followers"]["N"])

    def _move(self, update):
        key, values = _key(update["TableName"], update["Key"]), update["ExpressionAttributeValues"]
        if self.items.get(key, {}).get("version") != values.get(":loaded"):
            raise CancelledError
        self.items[key] = {"version": values[":version"], "next_offset": values[":next"], "topic_id": values[":topic"]}


def _key(table, key):
    return (table, *(value["S"] for value in key.values()))


@known_fault
def test_demo_py_torn_a_second_owner_that_reads_within_a_transaction_counts_nothing_twice():
    """It saw the new place and the old watermarks: its own write must fail."""
    dynamodb, seen = ItemByItem(), {}
    ledger = Ledger(dynamodb, "", KEPT_SECONDS)

    def second_owner_reads():
        seen["place"] = ledger.load(PARTITION)
        seen["watermarks"] = ledger.watermarks(PARTITION, ["shard-1"])

    dynamodb.after_the_place = second_owner_reads
    Counting(ledger).count(PARTITION, TOPIC_ID, EVENTS)
    again = tally(EVENTS, seen["watermarks"], ROOM)
    with suppress(OvertakenError):
        ledger.write(PARTITION, again, seen["place"], Place(0, 3, TOPIC_ID), [], 0)
    assert dynamodb.count("bob") == 3


@known_fault
def test_demo_py_ttl_a_replay_counts_nothing_twice_while_kafka_still_has_the_records():
    """Kafka deletes whole segments: the oldest record of one outlives the topic's retention by segment.ms."""
    dynamodb, now = ItemByItem(), [1_000 * DAY_S]
    ledger = Ledger(dynamodb, "", KEPT_SECONDS)
    Counting(ledger, now=lambda: now[0]).count(PARTITION, TOPIC_ID, EVENTS)
    now[0] += 7 * DAY_S + SEGMENT_S
    dynamodb.expire(now[0])
    assert ("ledgers", PARTITION, PLACE) in dynamodb.items
    Counting(ledger, now=lambda: now[0]).count(PARTITION, TOPIC_ID, EVENTS)
    assert dynamodb.count("bob") == 3
