"""How far one shard is published: its records go to Kafka, then the checkpoint moves.

Rule: a checkpoint covers only what Kafka has acknowledged, and only the owner of the lease moves it.
"""

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from cdc_bridge import metrics
from cdc_bridge.dynamo_streams import FULL_PAGE, GapError, Page
from cdc_bridge.held_lease import HeldLease
from cdc_bridge.kafka_publisher import RefusedError
from cdc_bridge.lineage import ShardKey, State, is_overdue
from cdc_bridge.message import Message, instead_of, message_for
from cdc_bridge.translate import Record
from contracts import Codec

COARSE_MS = 60_000  # a record's own time may be that much too early
SETTLED_MS = 1000  # a committed row is in its stream by then
_log = logging.getLogger(__name__)


Publish = Callable[[Sequence[Message]], None]  # returns when Kafka has acknowledged all of them


class TooLateError(GapError):
    """The shard was not begun within the stream's retention: what its beginning held is not known."""


def is_tip(page: Page) -> bool:
    """Say whether a page reached the shard's tip: it is far from full, and the 1 MB cap cuts no page of small rows."""
    return len(page.records) < FULL_PAGE // 2


def created_ms(record: Record) -> int:
    """Return the stream's own time of a record: coarse, and rounded down."""
    return int(record["dynamodb"].get("ApproximateCreationDateTime", 0) * 1000)


@dataclass
class ShardProgress:
    """Publishes the records of one shard's pages, and remembers how far."""

    shard: ShardKey
    lease: HeldLease
    codecs: Mapping[str, Codec]
    clock: Callable[[], int]
    one_by_one: bool = False  # Kafka refused a message of the page: find out which
    _replaced: dict[str, Message] = field(
        default_factory=dict
    )  # by event id: what is published instead of a refused message

    def __post_init__(self) -> None:
        """Begin where the lease says."""
        progress = self.lease.progress
        self.position, self.tip_at = progress.position, progress.tip_at
        self._state, self._since = progress.state, progress.since

    @property
    def wants_only_what_is_left(self) -> bool:
        """True in LEFT and SKIPPING: trimmed records are no gap there."""
        return self._state in (State.LEFT, State.SKIPPING)

    def check_beginning(self) -> None:
        """Refuse to begin a shard whose first records may be older than the stream keeps them."""
        if self.position is None and is_overdue(self._since, self.tip_at, self.clock()):
            since = max(self._since, self.tip_at)
            raise TooLateError(f"not begun in time: of what was committed after {since} ms, some may be trimmed")

    def pass_gap(self, gap: str) -> None:
        """Go on at whatever is left."""
        self.lease.go_on(gap)
        self._state, self.position, self._since = State.LEFT, None, self.lease.progress.since

    def publish_one_by_one(self) -> None:
        """Let the next ship() publish its records one by one, because Kafka refused some among them."""
        self.one_by_one = True

    def ship(self, publish: Publish, records: Sequence[Record]) -> None:
        """Return when the records are on Kafka, as events or dead letters, and the checkpoint covers them."""
        if self._state is State.SKIPPING:
            skipped = list(takewhile(lambda record: created_ms(record) + COARSE_MS < self._since, records))
            self.position = skipped[-1]["dynamodb"]["SequenceNumber"] if skipped else self.position
            records = records[len(skipped) :]
        if self.one_by_one:
            for record in records:
                self._publish_alone(publish, record)
            self.one_by_one = False
            self._replaced.clear()
        elif records:
            self._publish(publish, [(record, self._message(record)) for record in records])

    def note_tip(self, page: Page, asked_at: int) -> None:
        """Remember until when the shard is published: to the tip, or as far as its last record's own time.

        The last page of a closed shard is no tip: its child may have been written to for long.
        """
        at_tip = is_tip(page) and not page.last
        if at_tip:
            self.tip_at = max(self.tip_at, asked_at - SETTLED_MS)
        elif page.records:
            self.tip_at = max(self.tip_at, created_ms(page.records[-1]))
        self.lease.note_tip(self.tip_at)
        metrics.TIP_AT.labels(self.shard.table, self.shard.shard_id).set(self.tip_at)
        if at_tip and self.wants_only_what_is_left:
            self._begin_at_the_tip()

    def about(self, **more: str) -> dict[str, str | None]:
        """Say for a log line which shard this is, and how far it is published."""
        return {
            "table": self.shard.table,
            "stream_arn": self.shard.stream_arn,
            "shard_id": self.shard.shard_id,
            "position": self.position,
            **more,
        }

    def _begin_at_the_tip(self) -> None:
        """Remember that whatever was left or to be skipped is behind us: from here on nothing may be missing."""
        if self.position is None:
            self.lease.opened()
            self._state = State.OPENED
        else:
            self.lease.checkpoint(self.position)
            self._state = State.READING

    def _publish_alone(self, publish: Publish, record: Record) -> None:
        """Publish one record; a message that Kafka refuses is replaced, and the page begins again."""
        message = self._message(record)
        try:
            self._publish(publish, [(record, message)])
        except RefusedError as error:
            if message is not None:
                self._replaced[record["eventID"]] = instead_of(message, self.shard, record, str(error))
            raise RefusedError(f"event {record['eventID']}: {error}") from error

    def _publish(self, publish: Publish, records: Sequence[tuple[Record, Message | None]]) -> None:
        messages = [message for _, message in records if message is not None]
        publish(messages)
        last, _ = records[-1]
        position = last["dynamodb"]["SequenceNumber"]
        self.lease.checkpoint(position)
        self._state, self.position = State.READING, position
        self._count(messages)

    def _message(self, record: Record) -> Message | None:
        return self._replaced.get(record["eventID"]) or message_for(self.shard, record, self.codecs)

    def _count(self, messages: Iterable[Message]) -> None:
        now, lag, published = self.clock(), metrics.LAG.labels(self.shard.table), Counter[str]()
        metrics.CHECKPOINT_AT.labels(self.shard.table).set(now)
        for message in messages:
            if message.refusal is None:
                published[message.topic] += 1
            else:
                metrics.DEAD_LETTERS.labels(message.topic).inc()
                event_id = dict(message.headers)["event_id"].decode()
                _log.error("dead letter", extra=self.about(event_id=event_id, reason=message.refusal))
            if message.occurred_at is not None:
                lag.observe((now - message.occurred_at) / 1000)
        for topic, count in published.items():
            metrics.PUBLISHED.labels(topic).inc(count)
