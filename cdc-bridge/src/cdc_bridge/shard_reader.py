"""One shard, from its checkpoint to its end.

Rule, for each page:
1. read   2. translate   3. publish, and wait for every delivery report   4. checkpoint, conditional on the lease
5. only now ask whether the shard has ended.
Whatever fails in between, the tail begins again at the checkpoint; a page may be repeated, none is skipped.
"""

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from typing import Protocol

from cdc_bridge import gaps, metrics
from cdc_bridge.lease_table import Lease, LeaseLostError, LeasesAwayError
from cdc_bridge.message import Message, Place
from cdc_bridge.progress import Leases as ShippingLeases
from cdc_bridge.progress import Publish, Shipping, TooLateError
from cdc_bridge.publisher import PublishError, RefusedError
from cdc_bridge.stream import FULL_PAGE, GapError, Page, StreamAwayError
from contracts import Codec

IDLE_SECONDS = (0.2, 0.5)  # AWS allows five calls a second on a shard
RETRY_SECONDS = (0.2, 5.0)
_log = logging.getLogger(__name__)


class Reader(Protocol):
    """Reads one shard in order; stream.ShardReader."""

    def page(self, published: str | None) -> Page:
        """Read on, or after the published sequence number when the place was lost."""


class Leases(ShippingLeases, Protocol):
    """What a tail needs of the leases; leases.LeaseTable."""

    def finish(self, lease: Lease, tip_at: int) -> None:
        """Remember that the shard has ended."""

    def fail(self, lease: Lease, gap: str) -> None:
        """Remember a gap that nobody passes."""

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
        policy: gaps.Policy,
        clock: Callable[[], int],
    ) -> None:
        self.place = place
        self.lease = lease
        self.expires_at = lease.expires_at
        self.progressed_at = clock()
        self.trouble: str | None = None
        self._shipping = Shipping(place, lease, codecs, leases, clock)
        self._leases = leases
        self._reader = reader
        self._publisher = publisher
        self._policy = policy
        self._clock = clock
        self._stopping = threading.Event()
        self._given_up = threading.Event()

    @property
    def tip_at(self) -> int:
        """Until when the shard is published."""
        return self._shipping.tip_at

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
            _log.warning("lease lost", extra=self._shipping.about(error=str(error)))
        finally:
            with suppress(KeyError):
                metrics.TIP_AT.remove(self.place.table, self.place.shard_id)

    def _until_done(self) -> bool:
        """Work until the shard has ended (True) or somebody says stop (False); every failure is tried again."""
        shortest, longest = RETRY_SECONDS
        pause = shortest
        while not self._stopping.is_set():
            before = self._shipping.position
            try:
                return self._pages()
            except LeaseLostError:
                raise
            except GapError as error:
                if self._is_exhausted(error):
                    return True
            except RefusedError as error:
                self._shipping.doubt()
                self._complain(error)
            except Exception as error:  # noqa: BLE001 - whatever it was, the checkpoint is where to go on
                self._complain(error)
            self._check_lease()
            pause = shortest if self._shipping.position != before else pause
            self._stopping.wait(pause)
            pause = min(pause * 2, longest)
        return False

    def _is_exhausted(self, error: GapError) -> bool:
        """Say whether nothing is left where only that was asked for; otherwise it is a gap, and the policy decides."""
        if self._shipping.wants_only_what_is_left and not isinstance(error, TooLateError):
            _log.warning("nothing is left of the shard", extra=self._shipping.about(error=str(error)))
            return True
        if self._policy is gaps.Policy.FAIL:
            raise error
        self._shipping.pass_gap(self._tell(error))
        return False

    def _pages(self) -> bool:
        self._shipping.check_beginning()
        reader, pause, asked_at = self._reader(), 0.0, self._clock()
        with self._publisher() as publisher:
            while not self._stopping.is_set():
                self._check_lease()  # with no records too: whoever has it now would read beside us
                began = self._clock()
                page = reader.page(self._shipping.position)
                received_at = self._clock()
                metrics.RECORDS_READ.labels(self.place.table).inc(len(page.records))
                if page.records:
                    self._shipping.ship(self._guarded(publisher), page.records)
                self._shipping.note_tip(page, asked_at)
                asked_at = received_at  # a reader may ask for the next page as soon as it has given one
                self.progressed_at = self._clock()
                self.trouble = None
                if page.last:
                    return True
                pause = pause_after(len(page.records), pause)
                self._stopping.wait(max(0, pause - (self._clock() - began) / 1000))
        return False

    def _guarded(self, publisher: Publisher) -> Publish:
        """Produce nothing once others may have taken the shard, and leave when there is no more time."""

        def publish(messages: Sequence[Message]) -> None:
            self._check_lease()
            publisher.publish(messages, lambda: self._given_up.is_set() or self._expired())

        return publish

    def _expired(self) -> bool:
        return self._clock() >= self.expires_at

    def _check_lease(self) -> None:
        if self._expired():
            raise LeaseLostError("taken by another, or not renewed in time")

    def _tell(self, gap: GapError) -> str:
        place, kind, position = self.place, gaps.Kind.UNREADABLE, self._shipping.position
        gaps.tell(place.table, place.stream_arn, place.shard_id, position, kind, str(gap))
        return gaps.describe(kind, str(gap), position)

    def _leave(self, change: str, write: Callable[[Lease], None]) -> None:
        """Give the lease back; if that fails it expires by itself."""
        try:
            write(self.lease)
        except (LeaseLostError, LeasesAwayError) as error:
            _log.warning("lease not given back", extra=self._shipping.about(error=str(error)))
        else:
            metrics.LEASE_CHANGES.labels(change).inc()
            _log.info("shard %s", change, extra=self._shipping.about())

    def _complain(self, error: Exception) -> None:
        """Log each trouble once, however often it is met."""
        foreseen = isinstance(error, StreamAwayError | LeasesAwayError | PublishError)
        if str(error) != self.trouble:
            extra = self._shipping.about(error=str(error))
            _log.warning("shard waits", extra=extra, exc_info=None if foreseen else error)
        self.trouble = str(error)
