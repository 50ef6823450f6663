"""The stream, the leases and Kafka in memory."""

from concurrent.futures import Executor, Future
from contextlib import contextmanager
from dataclasses import dataclass, field

from cdc_bridge.dynamo_leases import LeaseTable
from cdc_bridge.held_lease import HeldLease
from cdc_bridge.lineage import Row, Shard, State
from cdc_bridge.pages import Page
from murmuration_testkit.unkind_aws import UnkindAws

LEASE_MS = 10_000
MOST_STEPS = 100_000


class MemoryLeases(LeaseTable):
    """The real leases, on a DynamoDB in memory to whose callers AWS is kind."""

    def __init__(self):
        super().__init__(UnkindAws().client(), "")


def take(leases, stream_arn, shard_id, owner, now, since=None):
    """Take a shard as it is now, whoever has it."""
    row = leases.rows(stream_arn).get(shard_id, Row(shard_id, State.OPENED, since=now if since is None else since))
    return leases.take(stream_arn, row, owner, now + LEASE_MS)


def hold(leases, stream_arn, shard_id, clock, owner="me"):
    """Take a shard and hold it, by one clock."""
    lease = take(leases, stream_arn, shard_id, owner, clock())
    return lease and HeldLease(leases, lease, LEASE_MS, clock(), clock, clock)


@dataclass
class MemoryShard:
    """A shard that a test fills and closes."""

    shard_id: str
    parent_id: str | None = None
    records: list = field(default_factory=list)
    closed: bool = False


class MemoryStreams:
    """dynamo_streams.Streams: one table, pages of two records, and as on AWS the last page has some."""

    def __init__(self, *shards):
        self.current = "arn:followers"
        self.of = {self.current: {shard.shard_id: shard for shard in shards}}
        self.failures = []  # what the next calls raise
        self.page_size = 2
        self.before_page = lambda: None

    @property
    def listed(self):
        return self.of["arn:followers"]

    @listed.setter
    def listed(self, shards):
        self.of["arn:followers"] = shards

    def arn(self, _table):
        return self.current

    def shards(self, stream_arn):
        return [Shard(shard.shard_id, shard.parent_id) for shard in self.of[stream_arn].values()]

    def open(self, stream_arn, shard_id):
        return MemoryPages(self, self.of[stream_arn][shard_id])


class MemoryPages:
    """dynamo_streams.ShardPages: an iterator that knows where it is."""

    def __init__(self, streams, shard):
        self._streams = streams
        self._shard = shard
        self._next = None

    def read(self, published):
        self._streams.before_page()
        if self._streams.failures:
            raise self._streams.failures.pop(0)
        records = self._shard.records
        if self._next is None:
            numbers = [record["dynamodb"]["SequenceNumber"] for record in records]
            self._next = sum(int(number) <= int(published) for number in numbers) if published else 0
        page = records[self._next : self._next + self._streams.page_size]
        self._next += len(page)
        return Page(page, last=self._shard.closed and self._next == len(records))

    def is_closed(self):
        return self._shard.closed


class MemoryKafka:
    """kafka_publisher.Publisher: a log, what the next calls do first, and whether Kafka answers at all."""

    def __init__(self):
        self.log = []
        self.instead = []
        self.away = False
        self.tried = 0  # batches that were begun while it was away

    @contextmanager
    def publisher(self):
        yield self

    def begin(self, messages):
        self.tried += self.away
        return MemoryBatch(self, messages)

    def publish_alone(self, message, given_up):
        assert not given_up()
        self.publish([message])

    def publish(self, messages):
        if self.instead:
            self.instead.pop(0)(messages)
        self.log += messages

    def event_ids(self):
        return [dict(message.headers)["event_id"].decode() for message in self.log]


class MemoryBatch:
    """kafka_batches.Batch: published as soon as somebody asks, unless Kafka is away."""

    def __init__(self, kafka, messages):
        self._kafka = kafka
        self._messages = messages

    def settled(self, within):  # noqa: ARG002
        return not self._kafka.away

    def wait(self):
        self._kafka.publish(self._messages)


class AtOnce(Executor):
    """Runs what it is given on the thread that gives it."""

    def submit(self, do, *args):
        future = Future()
        try:
            future.set_result(do(*args))
        except Exception as error:  # noqa: BLE001 - it is raised by result()
            future.set_exception(error)
        return future


def run(reader):
    """Take a reader's steps to the end, without the pauses between them."""
    assert any(reader.step() is None for _ in range(MOST_STEPS)), "the reader does not end"


def run_in_time(reader, world):
    """The same, but the pauses pass on the world's clock, and the lease is kept."""
    for _ in range(MOST_STEPS):
        pause = reader.step()
        if pause is None:
            return
        world.now += round(pause * 1000)
        reader.lease.renew()
    raise AssertionError("the reader does not end")
