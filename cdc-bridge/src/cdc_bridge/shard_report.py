"""What one shard's reader tells: lines in the log, and metrics."""

import logging
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress

from cdc_bridge import gaps, metrics
from cdc_bridge.held_lease import HeldLease
from cdc_bridge.kafka_publisher import PublishError
from cdc_bridge.lineage import ShardKey
from cdc_bridge.message import TRACEPARENT, TRUNCATED, Message
from cdc_bridge.pages import GapError
from murmuration_runtime import traces
from murmuration_runtime.errors import StoreAwayError

_log = logging.getLogger(__name__)


class ShardReport:
    """Tells about one shard for as long as it is read."""

    def __init__(self, shard: ShardKey, lease: HeldLease, clock: Callable[[], int]) -> None:
        self.trouble: Exception | None = None  # what keeps the shard from being read on
        self._shard = shard
        self._lease = lease
        self._clock = clock

    def read(self, records: int) -> None:
        """Count what a page held."""
        metrics.RECORDS_READ.labels(self._shard.table).inc(records)

    def published(self, messages: Sequence[Message], began_ms: int) -> None:
        """Count what Kafka has acknowledged since it was sent, log each dead letter, and trace the events."""
        now, lag, events = self._clock(), metrics.LAG.labels(self._shard.table), Counter[str]()
        metrics.CHECKPOINT_AT.labels(self._shard.table).set(now)
        for message in messages:
            if message.refusal is None:
                events[message.topic] += 1
            else:
                metrics.DEAD_LETTERS.labels(message.topic).inc()
                headers = dict(message.headers)
                event_id = headers["event_id"].decode()
                _log.error("dead letter", extra=self._about(event_id=event_id, reason=message.refusal))
                if TRUNCATED in headers:
                    _log.error(
                        "dead letter truncated: the stream alone has the whole record, for a day at most",
                        extra=self._about(event_id=event_id, kept=headers[TRUNCATED].decode()),
                    )
            if message.occurred_at is not None:
                lag.observe((now - message.occurred_at) / 1000)
        for topic, count in events.items():
            metrics.PUBLISHED.labels(topic).inc(count)

        if traces.are_on():
            self._trace(messages, began_ms * 1_000_000)

    def _trace(self, messages: Sequence[Message], began_ns: int) -> None:
        for message in messages:
            headers = {name: value.decode() for name, value in message.headers}
            about: traces.Attributes = {
                "messaging.destination.name": message.topic,
                "messaging.destination.partition.id": str(message.partition),
                "event_id": headers["event_id"],
            }
            traces.finished(f"publish {message.topic}", "PRODUCER", headers.get(TRACEPARENT), about, began_ns)

    def progressed(self) -> None:
        """Say until when the shard is published; whatever troubled it is over."""
        self.trouble = None
        metrics.TIP_AT.labels(self._shard.table, self._shard.shard_id).set(self._lease.progress.tip_at)

    def troubled(self, error: Exception) -> None:
        """Log each trouble once, however often it is met."""
        foreseen = isinstance(error, StoreAwayError | PublishError | GapError)
        if str(error) != str(self.trouble):
            _log.warning(
                "shard stalled; retrying from the checkpoint",
                extra=self._about(reason=str(error)),
                exc_info=None if foreseen else error,
            )
        self.trouble = error

    def gap(self, gap: GapError) -> str:
        """Log and count a gap, and have it repaired; return its text for the shard's row."""
        shard, kind, position = self._shard, gaps.Kind.UNREADABLE, self._lease.progress.position
        gaps.tell(shard.table, shard.stream_arn, shard.shard_id, position, kind, str(gap))
        text = gaps.describe(kind, str(gap), position)
        self._lease.owe_repair(shard.table, text)
        return text

    def no_gap(self, what: str, error: GapError) -> None:
        """Log why nothing is lost though the stream does not have what was asked for."""
        _log.warning(what, extra=self._about(reason=str(error)))

    def lost_lease(self, error: Exception) -> None:
        """Log that the lease was lost."""
        metrics.LEASE_CHANGES.labels("lost").inc()
        _log.warning("lease lost", extra=self._about(reason=str(error)))

    def kept_lease(self, error: Exception) -> None:
        """Log that the lease was not given back."""
        _log.warning("lease not given back: it expires by itself", extra=self._about(reason=str(error)))

    def left(self, change: str) -> None:
        """Say why the shard is read no more."""
        metrics.LEASE_CHANGES.labels(change).inc()
        _log.info("shard %s", change, extra=self._about())

    def end(self) -> None:
        """Forget what was measured of this shard alone."""
        with suppress(KeyError):
            metrics.TIP_AT.remove(self._shard.table, self._shard.shard_id)

    def _about(self, **more: str) -> dict[str, str | None]:
        """Say for a log line which shard this is, and how far it is published."""
        return {
            "table": self._shard.table,
            "stream_arn": self._shard.stream_arn,
            "shard_id": self._shard.shard_id,
            "position": self._lease.progress.position,
            **more,
        }
