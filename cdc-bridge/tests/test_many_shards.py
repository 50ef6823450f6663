"""Three hundred shards in one process, on the unkind AWS and librdkafka's mock cluster."""

import os
import threading
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

from cdc_bridge.coordinator import Coordinator
from cdc_bridge.discovery import Discovery
from cdc_bridge.dynamo_leases import LeaseTable
from cdc_bridge.dynamo_streams import Streams
from cdc_bridge.gaps import Policy
from cdc_bridge.kafka_publisher import Producers
from cdc_bridge.lineage import State
from cdc_bridge.settings import Settings
from cdc_bridge.shard_reader import ShardReader
from cdc_bridge.sharing import Sharing
from cdc_bridge.shown_streams import ShownStreams
from cdc_bridge.translate import TABLES
from cdc_bridge.turns import Turns
from contracts import TOPICS
from contracts.examples import codec
from murmuration_runtime.readiness import Readiness
from murmuration_testkit.unkind_aws import UnkindAws, Unkindness
from murmuration_testkit.waiting import eventually

from .mock_kafka import MockKafka
from .records import edge

CODECS = {name: codec(topic) for name, topic in TOPICS.items()}
TOPIC = TOPICS["FollowChanged"]
SHARDS = 300
RECORDS = 30  # of each shard, more or less
LEASE_MS = 8_000
MOST_THREADS = 64
MOST_MB = 1024
UNKIND = {
    Unkindness.STREAM_LAG: 0.5,
    Unkindness.EMPTY_PAGE: 0.1,
    Unkindness.THROTTLING: 0.02,
    Unkindness.LOST_ANSWER: 0.02,
    Unkindness.CONFLICT: 0.02,
}


@pytest.fixture
def aws():
    """A table of which one shard was split in three hundred, in time that passes as it does."""
    aws, over = UnkindAws(seed=1), threading.Event()
    stream = aws.stream("followers")
    stream.split(stream.open_shards()[0], SHARDS)

    def pass_time():
        at = time.monotonic()
        while not over.wait(0.02):
            before, at = at, time.monotonic()
            with aws.lock:
                aws.sleep(at - before)

    clock = threading.Thread(target=pass_time)
    clock.start()
    yield aws
    over.set()
    clock.join()


@pytest.fixture
def kafka():
    with MockKafka(TOPIC.name, TOPIC.partitions) as cluster:
        yield cluster


class Hanging:
    """The pages of a shard of which each call hangs until a test ends that."""

    def __init__(self, pages, over):
        self._pages = pages
        self._over = over

    def read(self, after):
        self._over.wait()
        return self._pages.read(after)


@contextmanager
def bridge(aws, kafka, hanging, over):
    """Run a bridge as app.py wires it, but for a shard that hangs."""
    streams, leases = Streams(aws.client(), aws.client("dynamodbstreams")), LeaseTable(aws.client(), "")
    readers = Settings.model_fields["reader_threads"].default

    def steady():
        return time.monotonic_ns() // 1_000_000

    def pages(shard):
        opened = streams.open(shard.stream_arn, shard.shard_id)
        return Hanging(opened, over) if shard.shard_id == hanging else opened

    with ThreadPoolExecutor(readers) as threads, Producers(kafka.settings) as producers:

        def reader(shard, lease):
            publisher = lambda: producers.publisher(shard)  # noqa: E731
            parts = CODECS, lambda: pages(shard), publisher, threads, Policy.FAIL
            return ShardReader(shard, lease, *parts, aws.ms, steady)

        turns = Turns(threads)
        discovery = Discovery(streams, leases, dict, Policy.FAIL, State.LEFT, lambda *_: False, aws.ms, steady)
        sharing = Sharing(leases, "me", TABLES, LEASE_MS, aws.ms, steady)
        parts = discovery, sharing, reader, turns, Readiness()
        shown_streams = ShownStreams(leases, discovery.listings.last, aws.ms)
        coordinator = Coordinator(["followers"], *parts, 1, 5, steady, shown_streams)
        running = threading.Thread(target=coordinator.run)
        running.start()
        try:
            yield SimpleNamespace(waiting_for=coordinator.waiting_for)
        finally:
            over.set()
            coordinator.stop()
            running.join()
            turns.close()


def write(aws, numbers):
    client = aws.client()
    with aws.kind():
        for n in numbers:
            client.put_item(TableName="followers", Item=edge(f"user-{n % 5000}", f"fan-{n}"))


def written(aws):
    """Return each shard's sequence numbers, in order."""
    shards = aws.stream("followers").shards.values()
    return {shard.shard_id: shard.numbers for shard in shards if shard.numbers}


def published(kafka):
    """Return each shard's sequence numbers as they lie in each partition."""
    found = defaultdict(list)
    for partition in range(TOPIC.partitions):
        for headers in kafka.headers(TOPIC.name, partition):
            found[partition, headers["shard_id"].decode()].append(int(headers["sequence_number"]))
    return found


def size():
    """Return this process's threads and megabytes."""
    resident = int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")
    return threads(), resident / 2**20


def threads():
    return len(list(Path("/proc/self/task").iterdir()))


def test_three_hundred_shards_share_threads_and_producers_and_one_that_hangs_holds_up_no_other(aws, kafka):
    """Every record is published in order, by at most 64 threads with at most 1 GB."""
    write(aws, range(SHARDS * RECORDS))
    hanging, over, sizes = aws.stream("followers").open_shards()[7], threading.Event(), []
    before = threads()  # of the mock cluster, and of tests that ran before this one

    def all_but_the_hanging_one():
        sizes.append(size())
        arrived = {number for (_, shard), numbers in published(kafka).items() for number in numbers}
        return all(arrived.issuperset(numbers) for shard, numbers in written(aws).items() if shard != hanging)

    with bridge(aws, kafka, hanging, over):
        eventually(lambda: published(kafka))
        aws.unkind.update(UNKIND)
        eventually(all_but_the_hanging_one, within=60, every=0.5)
        write(aws, range(SHARDS * RECORDS, SHARDS * (RECORDS + 5)))
        eventually(all_but_the_hanging_one, within=60, every=0.5)
        assert not any(shard == hanging for _, shard in published(kafka))
        over.set()
        eventually(lambda: {shard for _, shard in published(kafka)} == set(written(aws)))
    most_threads, most_mb = max(count for count, _ in sizes) - before, max(mb for _, mb in sizes)
    assert most_threads <= MOST_THREADS, most_threads
    assert most_mb <= MOST_MB
    whole = defaultdict(list)
    for (_, shard), numbers in published(kafka).items():
        first_seen = list(dict.fromkeys(numbers))
        assert first_seen == sorted(first_seen)
        whole[shard] += first_seen
    assert {shard: sorted(numbers) for shard, numbers in whole.items()} == written(aws)
