"""Records trimmed before they were read, twenty times: what is missing is exactly what the reported gaps cover."""

import os
import random
import signal
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from botocore.exceptions import ClientError

from murmuration_testkit.dynamodb_local import DynamoDbLocal

from .ledger import Change
from .load import World, world

FAULTS = int(os.environ.get("FAULTS", "20"))
MORE_THAN_A_DAY = 25


class Record(NamedTuple):
    """One record as the stream has it."""

    shard_id: str
    sequence: int
    key: str
    change: Change


def trims() -> dict[str, Any]:
    """Let both bridges stand still, write, let a day pass for the stream, and let them go on with what is left."""
    with world(GAP_POLICY="continue") as here:
        stream: dict[str, Record] = {}
        trimmed: set[str] = set()
        for number in range(FAULTS):
            time.sleep(random.uniform(0.3, 2))
            for bridge in here.bridges:
                bridge.send(signal.SIGSTOP)
            time.sleep(random.uniform(0.1, 1))
            with here.load.resting():
                stream |= records(here.store)
                here.store.pass_hours(MORE_THAN_A_DAY)
                trimmed |= stream.keys()
                for bridge in here.bridges:
                    bridge.send(signal.SIGCONT)
            print(f"    {number + 1}/{FAULTS} 24 h trim", flush=True)
        here.load.stop()
        stream |= records(here.store)
        places = {event_id: place for event_id, place in _places(stream).items() if event_id in trimmed}
        gaps = list(reported(here))
        lost = {place for event_id, place in places.items() if any(_covers(gap, stream[event_id]) for gap in gaps)}
        outcome = here.outcome("24 h trim", f"{FAULTS} x both bridges stopped, then trimmed: {len(gaps)} gaps", lost)
        outcome["differences"] += _unlike(stream, here.load.written)
        return outcome


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


def reported(here: World) -> Iterator[Any]:
    """Give the gaps of the followers that the bridges logged."""
    for bridge in here.bridges:
        for said in bridge.logged():
            if said["message"] == "gap" and said["table"] == "followers":
                yield said


def _covers(gap: Any, record: Record) -> bool:
    return bool(gap["shard_id"] == record.shard_id and record.sequence > int(gap["position"] or -1))


def _unlike(stream: Mapping[str, Record], written: Mapping[str, list[Change]]) -> list[str]:
    streamed: dict[str, list[Change]] = defaultdict(list)
    for record in sorted(stream.values(), key=lambda record: record.sequence):
        streamed[record.key].append(record.change)
    return [f"{key}: the drill itself missed part of the stream" for key in written if written[key] != streamed[key]]


STACK = "kafka,dynamodb,redis,registry"
DRILLS = [trims]
