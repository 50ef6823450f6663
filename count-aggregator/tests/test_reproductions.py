"""Known faults: each test is a promise that is not kept yet. Whoever mends one takes its mark away."""

from contextlib import suppress
from types import SimpleNamespace

import pytest

from count_aggregator.bridge_progress import BridgeProgress
from count_aggregator.counting import Counting
from count_aggregator.dynamo_accounts import Accounts, Look
from count_aggregator.ledger import PLACE, ROOM, Ledger, OvertakenError, Place
from count_aggregator.reconcile import Reconciliation
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


@known_fault
def test_demo_py_gsi_a_right_count_is_left_alone_while_the_index_lags():
    """AWS fills by_follower a little later than the table; the looks of a repair must not both fall in between."""
    now = [1_000.0]

    class Lagging:
        count = 11

        def look(self, _):
            return Look(0, self.count, 5, 0, 10 if now[0] < 1_008 else 11)

        def repair(self, _, look):
            self.count += look.drift[1]
            return True

    accounts = Lagging()

    def sleep(seconds):
        now[0] += seconds

    everything = {("FollowChanged", 0): 7}
    Reconciliation(
        accounts,
        published_until=lambda: now[0] * 1000 - 1500,
        ends=lambda: everything,
        counted=lambda: everything,
        patience_seconds=600,
        now=lambda: now[0],
        sleep=sleep,
    ).run(["bob"])
    assert accounts.count == 11


@known_fault
def test_demo_py_hidden_whoever_is_counted_during_a_recount_of_everybody_is_a_suspect():
    """An event vanished: bob has five rows and a count of four. A follow that comes between the two scans hides it."""
    count = [4]

    class Scans:
        def get_paginator(self, _):
            return self

        def paginate(self, TableName, **_):  # noqa: N803
            if TableName == "followers":
                yield {"Items": [{"followee_id": {"S": "bob"}, "follower_id": {"S": f"fan-{n}"}} for n in range(5)]}
                count[0] += 1  # somebody follows bob behind this scan, and is counted before the next
            else:
                fans = [{"user_id": {"S": f"fan-{n}"}, "following_count": {"N": "1"}} for n in range(5)]
                yield {"Items": [*fans, {"user_id": {"S": "bob"}, "followers_count": {"N": str(count[0])}}]}

    _, suspects = Accounts(Scans(), "", lambda: None).suspects()
    assert suspects == ["bob"]


@known_fault
def test_demo_py_child_a_shard_that_is_not_listed_yet_counts_as_not_published():
    """A parent has ended and its child is written to, but the listing is behind: nobody knows what is published."""
    parent_ended_at, other_tip = 100, 900_000
    rows = [
        {"shard_id": {"S": "parent"}, "state": {"S": "ended"}, "tip_at": {"N": str(parent_ended_at)}},
        {"shard_id": {"S": "other"}, "state": {"S": "reading"}, "tip_at": {"N": str(other_tip)}},
    ]

    class AWS:
        def describe_table(self, **_):
            return {"Table": {"LatestStreamArn": "arn"}}

        def describe_stream(self, **_):
            return {"StreamDescription": {"Shards": [{"ShardId": "parent"}, {"ShardId": "other"}]}}

        def get_paginator(self, _):
            return self

        def paginate(self, **_):
            return [{"Items": rows}]

    assert BridgeProgress(AWS(), AWS(), "").published_until() <= parent_ended_at
