"""One shard, from its checkpoint to its end.

Rule: a checkpoint covers only what Kafka acknowledged, and only the lease's owner moves it. Per page:
1. read   2. translate   3. publish, and wait for every delivery report   4. checkpoint, conditional on the lease
5. only now ask whether the shard has ended.
Whatever fails in between, the tail begins again at the checkpoint; a page may be repeated, none is skipped.
"""

import logging
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from typing import Protocol

from cdc_bridge import gaps, metrics
from cdc_bridge.envelope import Message, Place, enclose, refuse
from cdc_bridge.leases import Lease, LeaseLostError, LeasesAwayError
from cdc_bridge.lineage import RETENTION_MS, State
from cdc_bridge.publisher import PublishError, RefusedError
from cdc_bridge.stream import FULL_PAGE, GapError, Page, StreamAwayError
from cdc_bridge.translate import Record
from contracts import Codec

IDLE_SECONDS = (0.2, 0.5)  # AWS allows five calls a second on a shard
RETRY_SECONDS = (0.2, 5.0)
COARSE_MS = 60_000  # a record's own time may be that much too early
SETTLED_MS = 1000  # a committed row is in its stream by then
_log = logging.getLogger(__name__)


class Reader(Protocol):
    """Reads one shard in order; stream.ShardReader."""

    def page(self, published: str | None) -> Page:
        """Read on, or after the published sequence number when the place was lost."""


class Leases(Protocol):
    """What a tail needs of the leases; leases.LeaseTable."""

    def checkpoint(self, lease: Lease, position: str) -> None:
        """Remember what is published."""

    def opened(self, lease: Lease, tip_at: int) -> None:
        """Remember that the shard had nothing up to its tip."""

    def finish(self, lease: Lease, tip_at: int) -> None:
        """Remember that the shard has ended."""

    def fail(self, lease: Lease, gap: str) -> None:
        """Remember a gap that nobody passes."""

    def go_on(self, lease: Lease, gap: str, now: int) -> None:
        """Remember a gap, and go on at whatever is left."""

    def release(self, lease: Lease) -> None:
        """Let somebody else go on."""


class Publisher(Protocol):
    """Brings messages to Kafka; publisher.Publisher."""

    def publish(self, messages: Sequence[Message], given_up: Callable[[], bool]) -> None:
        """Return when all are acknowledged."""


def pause_after(records: int, pause: float) -> float:
    """Say how long to wait before the next call: a full page is followed at once, empty ones wait ever longer."""
    shortest, longest = IDLE_SECONDS
    if records >= FULL_PAGE:
        return 0
    return shortest if records else min(max(pause * 1.5, shortest), longest)


def is_tip(page: Page) -> bool:
    """Say whether a page reached the shard's tip: it is far from full, and the 1 MB cap cuts no page of small rows."""
    return len(page.records) < FULL_PAGE // 2


def created_ms(record: Record) -> int:
    """Return the stream's own time of a record: coarse, and rounded down."""
    return int(record["dynamodb"].get("ApproximateCreationDateTime", 0) * 1000)


class _TooLateError(GapError):
    """Nobody can know what a shard's beginning held."""


class Tail:
    """Publishes one shard for as long as the lease is held, in a thread of its own."""

    def __init__(
        self,
        place: Place,
        lease: Lease,
        codecs: Mapping[str, Codec],
        leases: Leases,
        reader: Callable[[], Reader],
        publisher: Callable[[], AbstractContextManager[Publisher]],
        policy: gaps.Policy,
        clock: Callable[[], int],
    ) -> None:
        self.place = place
        self.lease = lease
        self.expires_at = lease.expires_at
        self.progressed_at = clock()
        self.trouble: str | None = None
        self.position = lease.position
        self.tip_at = lease.tip_at
        self._state = lease.state
        self._since = lease.since
        self._codecs = codecs
        self._leases = leases
        self._reader = reader
        self._publisher = publisher
        self._policy = policy
        self._clock = clock
        self._one_by_one = False  # Kafka refused something of this page: find out what
        self._refused: dict[str, list[str]] = {}  # by event id: why Kafka refused the message when it was alone
        self._stopping = threading.Event()
        self._given_up = threading.Event()

    def stop(self) -> None:
        """Ask it to finish its page and give the lease back."""
        self._stopping.set()

    def give_up(self) -> None:
        """Make it leave its page: there is no more time."""
        self._given_up.set()
        self._stopping.set()

    def run(self) -> None:
        """Publish until the shard ends, a gap opens, the lease is lost or somebody says stop."""
        try:
            if self._until_done():
                self._leave("finished", lambda lease: self._leases.finish(lease, self.tip_at))
            else:
                self._leave("released", self._leases.release)
        except GapError as error:
            gap = self._tell(error)
            self._leave("failed", lambda lease: self._leases.fail(lease, gap))
        except LeaseLostError as error:
            metrics.LEASE_CHANGES.labels("lost").inc()
            _log.warning("lease lost", extra=self._about(error=str(error)))
        finally:
            with suppress(KeyError):
                metrics.TIP_AT.remove(self.place.table, self.place.shard_id)

    def _until_done(self) -> bool:
        """Work until the shard has ended (True) or somebody says stop (False); every failure is tried again."""
        shortest, longest = RETRY_SECONDS
        pause = shortest
        while not self._stopping.is_set():
            before = self.position
            try:
                return self._pages()
            except LeaseLostError:
                raise
            except GapError as error:
                if self._is_exhausted(error):
                    return True
            except RefusedError as error:
                self._one_by_one = True
                self._complain(error)
            except Exception as error:  # noqa: BLE001 - whatever it was, the checkpoint is where to go on
                self._complain(error)
            self._check_lease()
            pause = shortest if self.position != before else pause
            self._stopping.wait(pause)
            pause = min(pause * 2, longest)
        return False

    def _is_exhausted(self, error: GapError) -> bool:
        """Say whether nothing is left where only that was asked for; otherwise it is a gap, and the policy decides."""
        if self._state in (State.LEFT, State.SKIPPING) and not isinstance(error, _TooLateError):
            _log.warning("nothing is left of the shard", extra=self._about(error=str(error)))
            self.tip_at = self._clock()
            return True
        if self._policy is gaps.Policy.FAIL:
            raise error
        now = self._clock()
        self._leases.go_on(self.lease, self._tell(error), now)
        self._state, self.position, self._since = State.LEFT, None, now
        return False

    def _pages(self) -> bool:
        self._check_beginning()
        reader, pause, asked_at = self._reader(), 0.0, self._clock()
        with self._publisher() as publisher:
            while not self._stopping.is_set():
                began = self._clock()
                page = reader.page(self.position)
                received_at = self._clock()
                metrics.RECORDS_READ.labels(self.place.table).inc(len(page.records))
                if page.records:
                    self._pass_on(publisher, page.records)
                self._note_tip(page, asked_at)
                asked_at = received_at  # a reader may ask for the next page as soon as it has given one
                self.progressed_at = self._clock()
                self.trouble = None
                if page.last:
                    return True
                pause = pause_after(len(page.records), pause)
                self._stopping.wait(max(0, pause - (self._clock() - began) / 1000))
        return False

    def _check_beginning(self) -> None:
        """Refuse to begin a shard whose first records may be older than the stream keeps them."""
        since = max(self._since, self.tip_at)
        if self.position is None and self._clock() - since >= RETENTION_MS:
            raise _TooLateError(f"not begun in time: of what was committed after {since} ms, some may be trimmed")

    def _note_tip(self, page: Page, asked_at: int) -> None:
        """Remember until when the shard is published: to the tip, or as far as its last record's own time."""
        at_tip = is_tip(page)
        until = asked_at - SETTLED_MS if at_tip else created_ms(page.records[-1])
        self.tip_at = max(self.tip_at, until)
        metrics.TIP_AT.labels(self.place.table, self.place.shard_id).set(self.tip_at)
        if at_tip and self._state in (State.LEFT, State.SKIPPING):
            self._begin_at_the_tip()

    def _pass_on(self, publisher: Publisher, records: Sequence[Record]) -> None:
        if self._state is State.SKIPPING:
            skipped = [record for record in records if created_ms(record) + COARSE_MS < self._since]
            self.position = skipped[-1]["dynamodb"]["SequenceNumber"] if skipped else self.position
            records = records[len(skipped) :]
        if self._one_by_one:
            for record in records:
                self._publish_alone(publisher, record)
            self._one_by_one = False
            self._refused.clear()
        elif records:
            self._publish(publisher, records)

    def _begin_at_the_tip(self) -> None:
        """Remember that whatever was left or to be skipped is behind us: from here on nothing may be missing."""
        if self.position is None:
            self._leases.opened(self.lease, self.tip_at)
            self._state = State.OPENED
        else:
            self._leases.checkpoint(self.lease, self.position)
            self._state = State.READING

    def _publish_alone(self, publisher: Publisher, record: Record) -> None:
        """Publish one record; if Kafka refuses it again, its next attempt is a dead letter."""
        try:
            self._publish(publisher, [record])
        except RefusedError as error:
            self._refused.setdefault(record["eventID"], []).append(str(error))
            raise RefusedError(f"event {record['eventID']}: {error}") from error

    def _publish(self, publisher: Publisher, records: Sequence[Record]) -> None:
        messages = [message for record in records if (message := self._message(record)) is not None]
        self._check_lease()
        publisher.publish(messages, lambda: self._given_up.is_set() or self._expired())
        position = records[-1]["dynamodb"]["SequenceNumber"]
        self._leases.checkpoint(self.lease, position)
        self._state, self.position = State.READING, position
        self._count(messages)

    def _message(self, record: Record) -> Message | None:
        message = enclose(self.place, record, self._codecs)
        for reason in self._refused.get(record["eventID"], []):
            if message is not None:
                message = refuse(self.place, record, message, reason)
        return message

    def _expired(self) -> bool:
        return self._clock() >= self.expires_at

    def _check_lease(self) -> None:
        """Produce nothing once others may have taken the shard."""
        if self._expired():
            raise LeaseLostError("taken by another, or not renewed in time")

    def _count(self, messages: Iterable[Message]) -> None:
        now, lag, published = self._clock(), metrics.LAG.labels(self.place.table), Counter[str]()
        metrics.CHECKPOINT_AT.labels(self.place.table).set(now)
        for message in messages:
            if message.refusal is None:
                published[message.topic] += 1
            else:
                metrics.DEAD_LETTERS.labels(message.topic).inc()
                event_id = dict(message.headers)["event_id"].decode()
                _log.error("dead letter", extra=self._about(event_id=event_id, error=message.refusal))
            if message.occurred_at is not None:
                lag.observe(now - message.occurred_at)
        for topic, count in published.items():
            metrics.PUBLISHED.labels(topic).inc(count)

    def _tell(self, gap: GapError) -> str:
        place, kind, detail = self.place, gaps.Kind.UNREADABLE, str(gap)
        gaps.tell(place.table, place.stream_arn, place.shard_id, self.position, kind, detail)
        return gaps.describe(kind, detail, self.position)

    def _leave(self, change: str, write: Callable[[Lease], None]) -> None:
        """Give the lease back; if that fails it expires by itself."""
        try:
            write(self.lease)
        except (LeaseLostError, LeasesAwayError) as error:
            _log.warning("lease not given back", extra=self._about(error=str(error)))
        else:
            metrics.LEASE_CHANGES.labels(change).inc()
            _log.info("shard %s", change, extra=self._about())

    def _complain(self, error: Exception) -> None:
        """Log each trouble once, however often it is met."""
        foreseen = isinstance(error, StreamAwayError | LeasesAwayError | PublishError)
        if str(error) != self.trouble:
            _log.warning("shard waits", extra=self._about(error=str(error)), exc_info=None if foreseen else error)
        self.trouble = str(error)

    def _about(self, **more: str) -> dict[str, str | None]:
        return {
            "table": self.place.table,
            "stream_arn": self.place.stream_arn,
            "shard_id": self.place.shard_id,
            "position": self.position,
            **more,
        }
