"""How the system is doing, on one screen: who is ready, how far streams and topics are worked off, gaps, dead letters.

It reads what all share (leases, ledgers, Kafka) and each admin port; it exits with 1 if a line needs somebody.
Run it with `make health`. It knows the processes of a local stack alone; for a cluster see
docs/operations.md#health-of-a-cluster.
"""

import os
import sys
import time
import urllib.request
from collections.abc import Iterator
from typing import NamedTuple

from prometheus_client.parser import text_string_to_metric_families

from contracts import TOPICS, ContractError
from contracts.tables import LEASES, LEDGERS
from murmuration_runtime import dynamo
from murmuration_runtime.errors import StoreAwayError
from murmuration_runtime.kafka import KafkaTopics
from murmuration_runtime.kafka_connection import KafkaSettings
from murmuration_runtime.settings import read
from murmuration_testkit.services import PROCESSES
from murmuration_worker.letters import open_letters

RECOUNTED = "count-reconciler has yet to recount everybody; see docs/operations.md#gaps-of-the-aggregator"
STREAMLESS = "`python deploy/tables.py status` says whether a migration has yet to switch it on"
SNAPSHOT = "run `python -m cdc_bridge snapshot users`"
BEHIND_SECONDS = 90  # DynamoDB Local rounds the time of a record that came last down to the minute
BEHIND_EVENTS = 1_000
LATE_SECONDS = 2.0  # what a follow or a tweet may take
QUANTILE = 0.99
_DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Line(NamedTuple):
    """One thing that was looked at, what was found, and whether it needs somebody."""

    what: str
    found: str
    alarm: bool = False


def processes() -> Iterator[Line]:
    """Ask each process whether it is ready, and how late its effects came."""
    for process in PROCESSES.values():
        port = os.environ[process.port_variable("ADMIN_PORT")]
        address = f"http://{os.environ['HOST']}:{port}"
        try:
            with _DIRECT.open(f"{address}/metrics", timeout=2) as answer:
                metrics = answer.read().decode()
            _DIRECT.open(f"{address}/readyz", timeout=2).close()
        except OSError as error:
            yield Line(process.name, f"not ready: {error}; see `make logs S={process.name}`", alarm=True)
            continue
        late = lateness(metrics)
        found = "ready" if late is None else f"ready; {QUANTILE:.0%} of its effects within {late:g} s since its start"
        yield Line(process.name, found, late is not None and late > LATE_SECONDS)


def lateness(metrics: str) -> float | None:
    """Return the bucket of a process's lag histogram below which nearly all observations lie; None without any."""
    for family in text_string_to_metric_families(metrics):
        if not family.name.endswith("_lag_seconds"):
            continue
        buckets: dict[float, float] = {}
        for sample in family.samples:
            if sample.name.endswith("_bucket"):
                bound = float(sample.labels["le"])
                buckets[bound] = buckets.get(bound, 0) + sample.value
        if buckets and (most := max(buckets.values())):
            return min(bound for bound, count in buckets.items() if count >= QUANTILE * most)
    return None


def streams(now: float) -> Iterator[Line]:
    """Say until when each table's stream is published, and what was lost of it."""
    tables = sorted({topic.source.split()[1].rstrip(".") for topic in TOPICS.values()})
    client, name = dynamo.client(), os.environ.get("TABLE_PREFIX", "") + LEASES.name
    for table in tables:
        rows = _rows(client, name, LEASES.streams_of(table))
        tips = [int(row[LEASES.tip_at]["N"]) for row in rows if row[LEASES.state]["S"] != LEASES.ENDED]
        if all(tips) and tips:
            age = now - min(tips) / 1000
            yield Line(f"stream of {table}", f"published until {age:.1f} s ago", age > BEHIND_SECONDS)
        else:
            why = "no bridge has read it to its tip yet" if rows else f"no bridge has seen one; {STREAMLESS}"
            yield Line(f"stream of {table}", why, alarm=True)
        streams = [row[LEASES.shard_id]["S"] for row in rows]
        partitions = [LEASES.streams_of(table), *(part for stream in streams for part in LEASES.parts_of(stream))]
        for partition in partitions:
            yield from _gaps(f"gap in {table}", _rows(client, name, partition))
    yield from _gaps("gap in topics", _rows(client, name, LEASES.topics()))
    for owed in _rows(client, name, LEASES.snapshots()):
        if LEASES.gap in owed:
            yield Line("snapshot of users owed", f"{owed[LEASES.gap]['S']}: {SNAPSHOT}", alarm=True)


def _gaps(what: str, rows: list[dict[str, dict[str, str]]]) -> Iterator[Line]:
    for row in rows:
        if LEASES.gap in row:
            command = f"`python -m cdc_bridge clear {row[LEASES.shard_id]['S']}`"
            yield Line(what, f"{row[LEASES.gap]['S']}: run {command}, then repair; see docs/operations.md", alarm=True)


def counts() -> Iterator[Line]:
    """Say which events vanished before they were counted or published, while not everybody was recounted since."""
    pages = (
        dynamo.client()
        .get_paginator("scan")
        .paginate(
            TableName=os.environ.get("TABLE_PREFIX", "") + LEDGERS.name,
            FilterExpression=f"attribute_exists({LEDGERS.gaps})",
        )
    )
    for row in (row for page in pages for row in page["Items"]):
        for gap in row[LEDGERS.gaps]["L"]:
            where = f"gap in {row[LEDGERS.partition_id]['S']}"
            yield Line(where, f"{gap['S']}: {RECOUNTED}", alarm=True)
    for owed in _rows(dynamo.client(), os.environ.get("TABLE_PREFIX", "") + LEASES.name, LEASES.recounts()):
        yield Line(f"gap of {owed[LEASES.shard_id]['S']}", f"{owed[LEASES.gap]['S']}: {RECOUNTED}", alarm=True)


def topics() -> Iterator[Line]:
    """Say how far each group of workers is behind, and how many letters each .dlq holds."""
    where = read(KafkaSettings)
    for group in sorted({consumer for topic in TOPICS.values() for consumer in topic.consumers}):
        kafka = KafkaTopics(where, [topic for topic in TOPICS.values() if group in topic.consumers])
        behind = kafka.behind(group, kafka.partitions)
        yield Line(f"group {group}", f"{behind} events behind", behind > BEHIND_EVENTS)
    for topic in TOPICS.values():
        try:
            KafkaTopics(where, [topic]).ids()
        except ContractError as error:
            yield Line(topic.name, f"nothing is published: {error}", alarm=True)
        still_open = {}
        for consumer in topic.consumers:
            with open_letters(where, topic, consumer) as letters:
                still_open[consumer] = len(letters.open())
        found = ", ".join(f"{count} for {group}" for group, count in still_open.items())
        commands = [f"`python -m {name.replace('-', '_')} dead-letters list`" for name, n in still_open.items() if n]
        found = f"open: {found}" if found else "no service reads this topic yet"
        yield Line(topic.dlq, f"{found}{'; run ' if commands else ''}{', '.join(commands)}", bool(commands))


def _rows(client: object, table: str, partition: str) -> list[dict[str, dict[str, str]]]:
    pages = client.get_paginator("query").paginate(  # type: ignore[attr-defined]
        TableName=table,
        ConsistentRead=True,
        KeyConditionExpression=f"{LEASES.stream_arn} = :partition",
        ExpressionAttributeValues={":partition": {"S": partition}},
    )
    return [row for page in pages for row in page["Items"]]


def main() -> int:
    """Print a line for each thing that was looked at; 1 if one needs somebody."""
    alarms = 0
    for look in (processes, lambda: streams(time.time()), counts, topics):
        try:
            for line in look():
                alarms += line.alarm
                print(f"{'!' if line.alarm else ' '} {line.what:24} {line.found}")
        except StoreAwayError as error:
            alarms += 1
            print(f"! {error}")
    print(f"\n{alarms} of these lines need somebody; docs/operations.md says more" if alarms else "\nall is well")
    return int(bool(alarms))


if __name__ == "__main__":
    sys.exit(main())
