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
from contextlib import AbstractContextManager
from typing import Protocol

from cdc_bridge import metrics
from cdc_bridge.envelope import Message, Place, enclose
from cdc_bridge.leases import Lease, LeaseLostError, LeasesAwayError
from cdc_bridge.publisher import PublishError
from cdc_bridge.stream import FULL_PAGE, GapError, Page, StreamAwayError
from contracts import Codec

IDLE_SECONDS = (0.2, 0.5)  # AWS allows five calls a second on a shard
RETRY_SECONDS = (0.2, 5.0)
_log = logging.getLogger(__name__)


class Reader(Protocol):
    """Reads one shard in order; stream.ShardReader."""

    def page(self, published: str | None) -> Page:
        """Read on, or after the published sequence number when the place was lost."""


class Leases(Protocol):
    """What a tail needs of the leases; leases.LeaseTable."""

    def checkpoint(self, lease: Lease, position: str) -> None:
        """Remember what is published."""

    def finish(self, lease: Lease) -> None:
        """Remember that the shard has ended."""

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
        clock: Callable[[], int],
    ) -> None:
        self.place = place
        self.lease = lease
        self.expires_at = lease.expires_at
        self.progressed_at = clock()
        self.gap: str | None = None
        self.trouble: str | None = None
        self.position = lease.position
        self._codecs = codecs
        self._leases = leases
        self._reader = reader
        self._publisher = publisher
        self._clock = clock
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
            self._leave("finished" if self._until_done() else "released")
        except GapError as error:
            self.gap = str(error)
            metrics.GAPS.labels(self.place.table, "unreadable").inc()
            _log.error(
                "gap in the stream: records were lost before they were read, so this shard is read no further",
                extra=self._about(error=self.gap),
            )
            self._leave("released")
        except LeaseLostError as error:
            metrics.LEASE_CHANGES.labels("lost").inc()
            _log.warning("lease lost", extra=self._about(error=str(error)))

    def _until_done(self) -> bool:
        """Work until the shard has ended (True) or somebody says stop (False); every failure is tried again."""
        shortest, longest = RETRY_SECONDS
        pause = shortest
        while not self._stopping.is_set():
            before = self.position
            try:
                return self._pages()
            except (GapError, LeaseLostError):
                raise
            except Exception as error:  # noqa: BLE001 - whatever it was, the checkpoint is where to go on
                self._complain(error)
            self._check_lease()
            pause = shortest if self.position != before else pause
            self._stopping.wait(pause)
            pause = min(pause * 2, longest)
        return False

    def _pages(self) -> bool:
        reader, pause = self._reader(), 0.0
        with self._publisher() as publisher:
            while not self._stopping.is_set():
                began = self._clock()
                page = reader.page(self.position)
                metrics.RECORDS_READ.labels(self.place.table).inc(len(page.records))
                if page.records:
                    self._publish(publisher, page)
                self.progressed_at = self._clock()
                self.trouble = None
                if page.last:
                    return True
                pause = pause_after(len(page.records), pause)
                self._stopping.wait(max(0, pause - (self._clock() - began) / 1000))
        return False

    def _publish(self, publisher: Publisher, page: Page) -> None:
        messages = [m for record in page.records if (m := enclose(self.place, record, self._codecs)) is not None]
        self._check_lease()
        publisher.publish(messages, lambda: self._given_up.is_set() or self._expired())
        position = page.records[-1]["dynamodb"]["SequenceNumber"]
        self._leases.checkpoint(self.lease, position)
        self.position = position
        self._count(messages)

    def _expired(self) -> bool:
        return self._clock() >= self.expires_at

    def _check_lease(self) -> None:
        """Produce nothing once others may have taken the shard."""
        if self._expired():
            raise LeaseLostError("taken by another, or not renewed in time")

    def _count(self, messages: Iterable[Message]) -> None:
        now, lag, published = self._clock(), metrics.LAG.labels(self.place.table), Counter[str]()
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

    def _leave(self, change: str) -> None:
        """Give the lease back; if that fails it expires by itself."""
        try:
            (self._leases.finish if change == "finished" else self._leases.release)(self.lease)
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
