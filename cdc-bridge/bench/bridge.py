"""How fast, how fresh and how large: one bridge on a DynamoDB Local of its own, in memory, and the stack's Kafka."""

import os
import statistics
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from murmuration_testkit.dynamodb_local import DynamoDbLocal, dynamodb_local
from murmuration_testkit.processes import pause, resume
from murmuration_testkit.rows import put_all
from murmuration_testkit.topics import Tap
from murmuration_testkit.waiting import eventually

from ..drills.bridges import Bridge, bridges  # type: ignore[import-not-found]  # mypy knows no folder with a hyphen

RECORDS = int(os.environ.get("RECORDS", "100000"))
ROUNDS = 10  # of which the first three are timed
TIMED = 3
AWAY_SECONDS = 60
A_SECOND = 50
SECONDS = 30
PAGE = 4096
LEASE_SECONDS = "10"  # the service's own default; the drills' two make five times as many looks at the leases
PUBLISHED = "cdc_bridge_events_published_total"


def one_bridge() -> list[dict[str, Any]]:
    """Fill a stream once, and let one process read it again and again."""
    with dynamodb_local(in_memory=True) as store:
        fill(store)
        arn, shard_id = place(store)
        bare(store, arn, shard_id)  # both sides of the comparison have run before they are timed
        with bridges(store, 1, LEASE_SECONDS=LEASE_SECONDS) as (bridge,):
            eventually(lambda: bridge.metric(PUBLISHED) == RECORDS, within=120)
            sizes, ours, theirs = [megabytes(bridge)], [], []
            for number in range(1, ROUNDS):
                ours.append(again(bridge, shard_id, number))
                sizes.append(megabytes(bridge))
                if number <= TIMED:
                    theirs.append(bare(store, arn, shard_id))
            peak, before = kafka_away(bridge, shard_id)
        speed = statistics.median(ours[:TIMED]), statistics.median(theirs)
        return [*pace(*speed), memory(sizes), away(peak, before)]


def fill(store: DynamoDbLocal) -> None:
    """Write one follow after the other; spread keys, because Local is slow on a hot one."""
    follows = ({"followee_id": f"user-{n % 10_007}", "follower_id": f"fan-{n}"} for n in range(RECORDS))
    at = {"followed_at": {"N": "1795000000000"}}
    put_all(store.client(), "followers", ({name: {"S": value} for name, value in f.items()} | at for f in follows))


def place(store: DynamoDbLocal) -> tuple[str, str]:
    """Return the stream and its one shard."""
    arn: str = store.client().describe_table(TableName="followers")["Table"]["LatestStreamArn"]
    [shard] = store.client("dynamodbstreams").describe_stream(StreamArn=arn)["StreamDescription"]["Shards"]
    return arn, shard["ShardId"]


def bare(store: DynamoDbLocal, arn: str, shard_id: str) -> float:
    """Read it all with boto3 and throw it away; return records a second."""
    streams = store.client("dynamodbstreams")
    first = streams.get_shard_iterator(StreamArn=arn, ShardId=shard_id, ShardIteratorType="TRIM_HORIZON")
    iterator, read = first["ShardIterator"], 0
    began = time.monotonic()
    while read < RECORDS:
        answer = streams.get_records(ShardIterator=iterator)
        read += len(answer["Records"])
        iterator = answer["NextShardIterator"]
    return RECORDS / (time.monotonic() - began)


def again(bridge: Bridge, shard_id: str, number: int) -> float:
    """Make the bridge forget its place and publish all once more; return records a second, the doubt against it."""
    forget(bridge, shard_id)
    before = number * RECORDS
    asked = began = ended = time.monotonic()
    while (done := bridge.metric(PUBLISHED)) < before + RECORDS:
        if done == before:
            assert ended - asked < 60, "the bridge does not begin again"
            began = ended
        ended = time.monotonic()
        assert ended - began < 120, f"{done - before} of {RECORDS} published"
        time.sleep(0.05)
    return RECORDS / (time.monotonic() - began)


def forget(bridge: Bridge, shard_id: str) -> None:
    """Take the shard from whoever reads it, and its checkpoint with it, as an operator does."""
    said = bridge.command("seek", shard_id, "TRIM_HORIZON", "--yes")
    assert "is read from TRIM_HORIZON on" in said, said


def kafka_away(bridge: Bridge, shard_id: str) -> tuple[float, float]:
    """Pause Kafka in the middle of a stream; return the peak of the memory meanwhile, and what it was before."""
    before = megabytes(bridge)
    began = bridge.metric(PUBLISHED)
    forget(bridge, shard_id)
    eventually(lambda: bridge.metric(PUBLISHED) > began, within=60)
    pause("kafka")
    try:
        peak = 0.0
        for _ in range(AWAY_SECONDS * 2):
            time.sleep(0.5)
            peak = max(peak, megabytes(bridge))
        assert bridge.metric(PUBLISHED) < began + RECORDS, "Kafka was paused too late"
    finally:
        resume("kafka")
    eventually(lambda: bridge.metric(PUBLISHED) >= began + RECORDS, within=120)
    return peak, before


def megabytes(bridge: Bridge) -> float:
    """Return the memory that the process has of its own."""
    resident = int(Path(f"/proc/{bridge.pid}/statm").read_text().split()[1])
    return resident * PAGE / 1e6


def pace(ours: float, theirs: float) -> list[dict[str, Any]]:
    """Say the figure of the issue."""
    return [
        {
            "name": "cdc-bridge: stream to Kafka, acks=all, Avro",
            "ours": ours,
            "reference": theirs,
            "ratio": ours / theirs,
            "target": 1.4,
            "unit": "records/s",
            "setup": f"{RECORDS:,} records, median of {TIMED} rounds, by turns with a bare boto3 GetRecords loop that "
            "throws them away",
        }
    ]


def memory(sizes: list[float]) -> dict[str, Any]:
    """Compare the largest with what it was after the first round."""
    return {
        "name": f"cdc-bridge: memory at {RECORDS * ROUNDS:,} records over that at {RECORDS:,}",
        "ours": max(sizes) / sizes[0],
        "at_most": 1.1,
        "unit": "x",
        "setup": f"MB after each round of {RECORDS:,}: {', '.join(f'{size:.0f}' for size in sizes)}",
    }


def away(peak: float, before: float) -> dict[str, Any]:
    """Compare the peak while Kafka was paused with before."""
    return {
        "name": f"cdc-bridge: memory while Kafka is away for {AWAY_SECONDS} s",
        "ours": peak / before,
        "at_most": 1.1,
        "unit": "x",
        "setup": f"{before:.0f} MB before, at most {peak:.0f} MB with Kafka stopped (SIGSTOP) in mid-stream",
    }


def freshness() -> list[dict[str, Any]]:
    """Write at 50/s, and note when a consumer has each event."""
    with dynamodb_local(in_memory=True) as store, bridges(store, 1), watching() as arrived:
        client, committed = store.client(), {}
        began = time.monotonic()
        for number in range(A_SECOND * SECONDS):
            time.sleep(max(0, began + number / A_SECOND - time.monotonic()))
            name = f"fresh-{began}-{number}"
            item = {"followee_id": {"S": name}, "follower_id": {"S": "fan"}, "followed_at": {"N": "1795000000000"}}
            client.put_item(TableName="followers", Item=item)
            committed[name] = time.monotonic()
        took = time.monotonic() - began
        eventually(lambda: committed.keys() <= arrived.keys(), within=30)
    lags = [(arrived[name] - at) * 1000 for name, at in committed.items()]
    cuts = statistics.quantiles(lags, n=100)
    setup = f"{len(lags) / took:.0f} writes/s for {took:.0f} s, from PutItem's answer until a consumer has the event"
    return [
        {"name": f"cdc-bridge: committed → consumable, {name}", "ours": value, "unit": "ms", "setup": setup}
        for name, value in (("p50", cuts[49]), ("p99", cuts[98]), ("max", max(lags)))
    ]


@contextmanager
def watching() -> Iterator[dict[str, float]]:
    """Note when each event arrives, by its key."""
    arrived: dict[str, float] = {}
    tap, over = Tap("FollowChanged"), threading.Event()

    def watch() -> None:
        while not over.is_set():
            for message in tap.read(0.1, at_most=1):
                arrived[message.key().decode()] = time.monotonic()

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield arrived
    finally:
        over.set()
        thread.join()
        tap.close()


STACK = "kafka,dynamodb,redis,registry"
BENCHMARKS = [one_bridge, freshness]
