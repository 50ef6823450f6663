"""The stream, the leases and Kafka in memory."""

import threading
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace

from cdc_bridge.held_lease import HeldLease
from cdc_bridge.leases import Lease, LeaseLostError
from cdc_bridge.lineage import Row, Shard, State
from cdc_bridge.pages import Page

LEASE_MS = 10_000
MOST_STEPS = 100_000


class MemoryLeases:
    """leases.Leases without DynamoDB."""

    def __init__(self):
        self._rows = {}
        self._lock = threading.Lock()

    def rows(self, stream_arn):
        with self._lock:
            return {shard_id: row for (arn, shard_id), row in self._rows.items() if arn == stream_arn}

    def take(self, stream_arn, seen, owner, until):
        with self._lock:
            row = self._rows.get((stream_arn, seen.shard_id))
            if row is None:
                row = replace(seen, state=State.OPENED, tip_at=seen.since)
            if row.state in (State.ENDED, State.GAP) or _sign(row) != _sign(seen):
                return None
            row = replace(row, owner=owner, epoch=row.epoch + 1, expires_at=until)
            self._rows[stream_arn, seen.shard_id] = row
            return Lease(stream_arn, seen.shard_id, owner, row.epoch, row.state, row.position, row.since, row.tip_at)

    def save(self, lease, progress, until):
        changes = asdict(progress)
        if progress.gap is None:
            del changes["gap"]
        self._change(lease, **changes, **({"expires_at": until} if until else {"owner": None, "expires_at": 0}))

    def note(self, stream_arn, row):
        with self._lock:
            return self._rows.setdefault((stream_arn, row.shard_id), row) is row

    def overrule(self, stream_arn, was, becomes):
        with self._lock:
            row = self._rows[stream_arn, was.shard_id]
            if (row.epoch, row.state, row.position) != (was.epoch, was.state, was.position):
                return False
            self._rows[stream_arn, was.shard_id] = replace(
                becomes, owner=None, expires_at=0, renewals=0, epoch=was.epoch + 1
            )
            return True

    def advance(self, stream_arn, shard_id, tip_at):
        with self._lock:
            row = self._rows[stream_arn, shard_id]
            self._rows[stream_arn, shard_id] = replace(row, tip_at=max(row.tip_at, tip_at))

    def prune(self, stream_arn, row):
        with self._lock:
            if (stream_arn, row.shard_id) in self._rows and self._rows[stream_arn, row.shard_id].epoch == row.epoch:
                del self._rows[stream_arn, row.shard_id]

    def live(self, owner, until):
        with self._lock:
            renewals = self._rows.get(("bridges", owner), Row(owner, State.READING)).renewals + 1
            self._rows["bridges", owner] = Row(owner, State.READING, epoch=1, expires_at=until, renewals=renewals)
        return self.rows("bridges")

    def leave(self, owner):
        with self._lock:
            self._rows.pop(("bridges", owner), None)

    def _change(self, lease, **changes):
        with self._lock:
            row = self._rows[lease.stream_arn, lease.shard_id]
            if (row.owner, row.epoch) != (lease.owner, lease.epoch):
                raise LeaseLostError(lease)
            changes["renewals"] = row.renewals + 1
            if changes.get("position") and row.position and int(changes["position"]) < int(row.position):
                raise LeaseLostError(lease)
            self._rows[lease.stream_arn, lease.shard_id] = replace(row, **changes)


def _sign(row):
    return row.owner, row.epoch, row.renewals, row.expires_at


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

    @contextmanager
    def publisher(self):
        yield self

    def begin(self, messages):
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
