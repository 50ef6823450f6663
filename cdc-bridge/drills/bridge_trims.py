"""Records trimmed before they were read, again and again: what is missing is exactly what the reported gaps cover."""

import os
import random
import signal
import time
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

from botocore.exceptions import ClientError

from contracts.tables import LEASES
from murmuration_testkit.dynamodb_local import DynamoDbLocal
from murmuration_testkit.waiting import eventually

from .ledger import Change
from .load import SETTLED, world

TRIMS = max(2, int(os.environ.get("FAULTS", "20")) // 4)  # a bridge takes half a minute to believe each
BELIEVED = 40.0
MORE_THAN_A_DAY = 25


class Record(NamedTuple):
    """One record as the stream has it."""

    shard_id: str
    sequence: int
    key: str
    change: Change


def trims() -> dict[str, Any]:
    """Kill both bridges, write, let a day pass for the stream and the leases, and start them on what is left."""
    with world(GAP_POLICY="continue") as here:
        stream: dict[str, Record] = {}
        trimmed: set[str] = set()
        time.sleep(BELIEVED)  # until then a shard that shows itself belongs to the stream's first listing
        for number in range(TRIMS):
            time.sleep(random.uniform(0.3, 2))
            for bridge in here.bridges:
                bridge.end(signal.SIGKILL)
            time.sleep(random.uniform(0.1, 1))
            with here.load.resting():
                stream |= records(here.store)
                here.store.pass_hours(MORE_THAN_A_DAY)
                age_leases(here.store)
                trimmed |= stream.keys()
                for bridge in here.bridges:
                    bridge.start()
            print(f"    {number + 1}/{TRIMS} 24 h trim", flush=True)
        here.load.stop()
        stopped_ms = time.time() * 1000
        eventually(
            lambda: published_until(here.store) > stopped_ms, within=SETTLED + TRIMS * BELIEVED
        )  # every gap has been told by then
        stream |= records(here.store)
        logged = [said for bridge in here.bridges for said in bridge.logged() if said.get("table") == "followers"]
        gaps = [said for said in logged if said["message"] == "gap"]
        seen = {said["shard_id"] for said in logged if "shard_id" in said}
        here.collect_published()  # a gap names the last checkpoint: some records behind that may have been published
        lost = {event_id for event_id in trimmed if any(_covers(gap, stream[event_id], seen) for gap in gaps)}
        lost -= {message.event_id for message in here.collected}
        places = _places(stream)
        told = f"{TRIMS} x both bridges killed -9, then trimmed: {len(gaps)} gaps"
        outcome = here.outcome("24 h trim", told, {places[event_id] for event_id in lost})
        outcome["differences"] += _unlike(stream, here.load.written)
        return outcome


def published_until(store: DynamoDbLocal) -> int:
    """Return what the leases say of the stream of the followers, in milliseconds."""
    asked: Any = {"TableName": "leases", "KeyConditionExpression": "stream_arn = :table", "ConsistentRead": True}
    values = {":table": {"S": LEASES.streams_of("followers")}}
    [row] = store.client().query(**asked, ExpressionAttributeValues=values)["Items"]
    return int(row.get("tip_at", {"N": "0"})["N"])


def age_leases(store: DynamoDbLocal) -> None:
    """Make what the leases say of times as much older: the bridges' own clocks do not move with the stream's."""
    client = store.client()
    for item in client.scan(TableName="leases", ConsistentRead=True)["Items"]:
        times = {name: int(item[name]["N"]) for name in ("since", "tip_at") if name in item}
        if times:
            aged = {name: {"N": str(ms - MORE_THAN_A_DAY * 3_600_000)} for name, ms in times.items()}
            client.put_item(TableName="leases", Item=item | aged)


def records(store: DynamoDbLocal) -> dict[str, Record]:
    """Read all that the stream of the followers has now, by event_id: with boto3 alone, and nothing of the bridge."""
    streams = store.client("dynamodbstreams")
    arn = store.client().describe_table(TableName="followers")["Table"]["LatestStreamArn"]
    found: dict[str, Record] = {}
    for page in _pages(streams, StreamArn=arn):
        for shard in page["Shards"]:
            found |= _shard(streams, arn, shard["ShardId"])
    return found


def _pages(streams: Any, **asked: str) -> Iterator[Any]:
    while True:
        page = streams.describe_stream(**asked)["StreamDescription"]
        yield page
        if "LastEvaluatedShardId" not in page:
            return
        asked["ExclusiveStartShardId"] = page["LastEvaluatedShardId"]


def _shard(streams: Any, arn: str, shard_id: str) -> dict[str, Record]:
    found: dict[str, Record] = {}
    try:
        answer = streams.get_shard_iterator(StreamArn=arn, ShardId=shard_id, ShardIteratorType="TRIM_HORIZON")
        iterator = answer["ShardIterator"]
        while iterator:
            answer = streams.get_records(ShardIterator=iterator)
            found |= {record["eventID"]: _record(shard_id, record["dynamodb"]) for record in answer["Records"]}
            iterator = answer.get("NextShardIterator") if answer["Records"] else None
    except ClientError:  # trimmed as a whole; if we should have read it, the journal will say so
        return found
    return found


def _record(shard_id: str, change: Any) -> Record:
    new = change.get("NewImage")
    at = int(new["followed_at"]["N"]) if new else None
    follower, followee = change["Keys"]["follower_id"]["S"], change["Keys"]["followee_id"]["S"]
    return Record(shard_id, int(change["SequenceNumber"]), followee, Change(follower, new is not None, at))


def _places(stream: Mapping[str, Record]) -> dict[str, tuple[str, int]]:
    """Say of each record which of its key's changes it is; sequence numbers grow over all shards of Local."""
    seen: dict[str, int] = defaultdict(int)
    places = {}
    for event_id in sorted(stream, key=lambda event_id: stream[event_id].sequence):
        key = stream[event_id].key
        places[event_id] = key, seen[key]
        seen[key] += 1
    return places


def _covers(gap: Any, record: Record, seen: Collection[str]) -> bool:
    """Say whether a record is in what the gap tells of: a shard that nobody saw, or shards before it."""
    if "and so may have some before it" in gap["reason"] and record.shard_id not in seen:
        return bool(record.shard_id <= gap["shard_id"])  # the ids of Local's shards begin with the time
    return bool(gap["shard_id"] == record.shard_id and record.sequence > int(gap["position"] or -1))


def _unlike(stream: Mapping[str, Record], written: Mapping[str, list[Change]]) -> list[str]:
    streamed: dict[str, list[Change]] = defaultdict(list)
    for record in sorted(stream.values(), key=lambda record: record.sequence):
        streamed[record.key].append(record.change)
    return [f"{key}: the drill itself missed part of the stream" for key in written if written[key] != streamed[key]]


STACK = "kafka,dynamodb,redis,registry"
DRILLS = [trims]
