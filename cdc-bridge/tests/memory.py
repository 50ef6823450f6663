"""The stream, the leases and Kafka in memory."""

import threading
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from cdc_bridge.leases import Lease, LeaseLostError, Row
from cdc_bridge.lineage import Shard, State
from cdc_bridge.stream import Page

LEASE_MS = 10_000


class MemoryLeases:
    """leases.LeaseTable without DynamoDB."""

    def __init__(self):
        self._rows = {}
        self._lock = threading.Lock()

    def rows(self, stream_arn):
        with self._lock:
            return {shard_id: row for (arn, shard_id), row in self._rows.items() if arn == stream_arn}

    def take(self, stream_arn, shard_id, owner, now):
        with self._lock:
            row = self._rows.get((stream_arn, shard_id)) or Row(shard_id, State.OPENED, None, None, 0, 0)
            if row.state is State.ENDED or (row.owner is not None and row.expires_at > now):
                return None
            row = replace(row, owner=owner, epoch=row.epoch + 1, expires_at=now + LEASE_MS)
            self._rows[stream_arn, shard_id] = row
            return Lease(stream_arn, shard_id, owner, row.epoch, row.expires_at, row.position)

    def renew(self, lease, now):
        self._change(lease, expires_at=now + LEASE_MS)
        return now + LEASE_MS

    def checkpoint(self, lease, position):
        self._change(lease, position=position, state=State.READING)

    def finish(self, lease):
        self._change(lease, state=State.ENDED, owner=None, expires_at=0)

    def release(self, lease):
        self._change(lease, owner=None, expires_at=0)

    def _change(self, lease, **changes):
        with self._lock:
            row = self._rows[lease.stream_arn, lease.shard_id]
            if (row.owner, row.epoch) != (lease.owner, lease.epoch):
                raise LeaseLostError(lease)
            if "position" in changes and row.position and int(changes["position"]) < int(row.position):
                raise LeaseLostError(lease)
            self._rows[lease.stream_arn, lease.shard_id] = replace(row, **changes)


@dataclass
class MemoryShard:
    """A shard that a test fills and closes."""

    shard_id: str
    parent_id: str | None = None
    records: list = field(default_factory=list)
    closed: bool = False


class MemoryStreams:
    """stream.Streams: one table, one stream, pages of two records, and as on AWS the last page has some."""

    def __init__(self, *shards):
        self.all = {shard.shard_id: shard for shard in shards}
        self.failures = []  # what the next calls raise

    def arn(self, table):
        return f"arn:{table}"

    def shards(self, _stream_arn):
        return [Shard(shard.shard_id, shard.parent_id) for shard in self.all.values()]

    def open(self, _stream_arn, shard_id):
        return MemoryReader(self, self.all[shard_id])


class MemoryReader:
    """stream.ShardReader: an iterator that knows its own place."""

    def __init__(self, streams, shard):
        self._streams = streams
        self._shard = shard
        self._next = None

    def page(self, published):
        if self._streams.failures:
            raise self._streams.failures.pop(0)
        records = self._shard.records
        if self._next is None:
            numbers = [record["dynamodb"]["SequenceNumber"] for record in records]
            self._next = numbers.index(published) + 1 if published else 0
        page = records[self._next : self._next + 2]
        self._next += len(page)
        return Page(page, last=self._shard.closed and self._next == len(records))


class MemoryKafka:
    """publisher.Publisher: a log, and what the next calls do instead."""

    def __init__(self):
        self.log = []
        self.instead = []

    @contextmanager
    def publisher(self):
        yield self

    def publish(self, messages, given_up):
        if self.instead:
            self.instead.pop(0)(messages, given_up)
        self.log += messages

    def event_ids(self):
        return [dict(message.headers)["event_id"].decode() for message in self.log]
