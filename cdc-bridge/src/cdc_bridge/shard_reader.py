"""One shard, from its checkpoint to its end.

Rule, for each page:
1. read   2. translate   3. publish, and wait for every delivery report   4. checkpoint, conditional on the lease
5. only now ask whether the shard has ended.
Steps 2 to 4 are ShardProgress.ship, in shard_progress.py.
Whatever fails in between, the reader begins again at the checkpoint; a page may be repeated, none is skipped.
"""

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from typing import Protocol

from cdc_bridge import gaps, metrics
from cdc_bridge.dynamo_streams import FULL_PAGE, GapError, Page
from cdc_bridge.held_lease import HeldLease
from cdc_bridge.kafka_publisher import PublishError, RefusedError
from cdc_bridge.leases import LeaseLostError
from cdc_bridge.lineage import ShardKey
from cdc_bridge.message import Message
from cdc_bridge.shard_progress import Publish, ShardProgress, TooLateError
from contracts import Codec
from murmuration_runtime.errors import StoreAwayError
from murmuration_runtime.retries import pauses

IDLE_SECONDS = (0.2, 0.5)  # AWS allows five calls a second on a shard
RETRY_SECONDS = (0.2, 5.0)
_log = logging.getLogger(__name__)


class Pages(Protocol):
    """One shard's pages in order; dynamo_streams.ShardPages."""

    def read(self, published: str | None) -> Page:
        """Read the next page; a first call begins after the published sequence number."""


class Publisher(Protocol):
    """Brings messages to Kafka; kafka_publisher.Publisher."""

    def publish(self, messages: Sequence[Message], given_up: Callable[[], bool]) -> None:
        """Return when all are acknowledged."""

    def publish_alone(self, message: Message, given_up: Callable[[], bool]) -> None:
        """Publish one message that shares no request with any other."""


def pause_after(records: int, pause: float) -> float:
    """Say how long to wait before the next call: a full page is followed at once, empty ones wait ever longer."""
    shortest, longest = IDLE_SECONDS
    if records >= FULL_PAGE:
        return 0
    return shortest if records else min(max(pause * 1.5, shortest), longest)


class ShardReader:
    """Publishes one shard for as long as the lease is held, in a thread of its own."""

    def __init__(
        self,
        shard: ShardKey,
        lease: HeldLease,
        codecs: Mapping[str, Codec],
        pages: Callable[[], Pages],
        publisher: Callable[[], AbstractContextManager[Publisher]],
        policy: gaps.Policy,
        clock: Callable[[], int],
        steady: Callable[[], int],
    ) -> None:
        self.shard = shard
        self.lease = lease
        self.progressed_at = self.heard_at = steady()  # when a page succeeded; when this thread last ran
        self.trouble: Exception | None = None
        self._progress = ShardProgress(shard, lease, codecs, clock)
        self._pages = pages
        self._publisher = publisher
        self._policy = policy
        self._clock = clock
        self._steady = steady
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
                self._leave("finished", self.lease.finish)
            else:
                self._leave("released", self.lease.release)
        except GapError as error:
            gap = self._report_gap(error)
            self._leave("failed", lambda: self.lease.fail(gap))
        except LeaseLostError as error:
            self._report_loss(error)
        finally:
            with suppress(KeyError):
                metrics.TIP_AT.remove(self.shard.table, self.shard.shard_id)

    def _until_done(self) -> bool:
        """Work until the shard has ended (True) or somebody says stop (False); every failure is tried again."""
        waits = pauses(*RETRY_SECONDS)
        while not self._stopping.is_set():
            before = self._progress.position
            try:
                return self._read_on()
            except LeaseLostError:
                raise
            except GapError as error:
                if self._handle_gap(error):
                    return True
            except RefusedError as error:
                self._progress.publish_one_by_one()
                self._report_trouble(error)
            except Exception as error:  # noqa: BLE001 - whatever it was, the checkpoint is where to go on
                self._report_trouble(error)
            self._show_life()
            self._check_lease()
            if self._progress.position != before:
                waits = pauses(*RETRY_SECONDS)
            self._stopping.wait(next(waits))
        return False

    def _handle_gap(self, error: GapError) -> bool:
        """Return True if the shard is finished: nothing is left, nothing is missed. Else raise, or pass the gap."""
        if self._progress.wants_only_what_is_left and not isinstance(error, TooLateError):
            _log.warning(
                "shard finished: the stream has nothing left of it", extra=self._progress.about(reason=str(error))
            )
            return True
        if self._policy is gaps.Policy.FAIL:
            raise error
        self._progress.pass_gap(self._report_gap(error))
        return False

    def _read_on(self) -> bool:
        """Read and publish page after page; True at the shard's end, False when told to stop."""
        self._progress.check_beginning()
        pages, pause, asked_at = self._pages(), 0.0, self._clock()
        with self._publisher() as publisher:
            while not self._stopping.is_set():
                self._show_life()
                self._check_lease()  # with no records too: whoever has it now would read beside us
                began = self._steady()
                page = pages.read(self._progress.position)
                received_at = self._clock()
                metrics.RECORDS_READ.labels(self.shard.table).inc(len(page.records))
                if page.records:
                    self._progress.ship(self._guarded(publisher), page.records)
                self._progress.note_tip(page, asked_at)
                asked_at = received_at  # the next page may be asked for as soon as this one is given
                self.progressed_at = self._steady()
                self.trouble = None
                if page.last:
                    return True
                pause = pause_after(len(page.records), pause)
                self._stopping.wait(max(0, pause - (self._steady() - began) / 1000))
        return False

    def _guarded(self, publisher: Publisher) -> Publish:
        """Publish only while the lease is held, and stop waiting for Kafka when told to give up."""

        def publish(messages: Sequence[Message]) -> None:
            self._show_life()
            self._check_lease()
            if self._progress.one_by_one:
                for message in messages:
                    publisher.publish_alone(message, must_leave_page)
            else:
                publisher.publish(messages, must_leave_page)

        def must_leave_page() -> bool:
            self._show_life()  # asked again and again while Kafka is waited for
            return self._given_up.is_set() or self._expired()

        return publish

    def _show_life(self) -> None:
        self.heard_at = self._steady()

    def _expired(self) -> bool:
        return not self.lease.is_held(self._steady())

    def _check_lease(self) -> None:
        if self._expired():
            raise LeaseLostError("taken by another, or not renewed in time")

    def _report_gap(self, gap: GapError) -> str:
        """Log and count a gap, and have it recounted; return its text for the shard's row."""
        shard, kind, position = self.shard, gaps.Kind.UNREADABLE, self._progress.position
        gaps.tell(shard.table, shard.stream_arn, shard.shard_id, position, kind, str(gap))
        text = gaps.describe(kind, str(gap), position)
        self.lease.owe_recount(shard.table, text)
        return text

    def _report_loss(self, error: LeaseLostError) -> None:
        metrics.LEASE_CHANGES.labels("lost").inc()
        _log.warning("lease lost", extra=self._progress.about(reason=str(error)))

    def _leave(self, change: str, write: Callable[[], None]) -> None:
        """Give the lease back; if that fails it expires by itself."""
        try:
            write()
        except (LeaseLostError, StoreAwayError) as error:
            _log.warning("lease not given back: it expires by itself", extra=self._progress.about(reason=str(error)))
        else:
            metrics.LEASE_CHANGES.labels(change).inc()
            _log.info("shard %s", change, extra=self._progress.about())

    def _report_trouble(self, error: Exception) -> None:
        """Log each trouble once, however often it is met."""
        foreseen = isinstance(error, StoreAwayError | PublishError)
        if str(error) != str(self.trouble):
            extra = self._progress.about(reason=str(error))
            _log.warning(
                "shard stalled; retrying from the checkpoint", extra=extra, exc_info=None if foreseen else error
            )
        self.trouble = error
