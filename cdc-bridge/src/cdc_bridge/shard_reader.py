"""One shard, from its checkpoint to its end, in steps.

Rule: shard_progress.plan says what to do with each page and in which order; here it is done, while the lease is held.
The next page is fetched while Kafka takes this one, and waits: nothing of it is published before this one is
acknowledged. Whatever fails, the reader begins again at the checkpoint; a page may be repeated, none is skipped.
"""

import threading
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager
from typing import Protocol

from cdc_bridge.absences import Absences
from cdc_bridge.gaps import Policy
from cdc_bridge.held_lease import HeldLease
from cdc_bridge.kafka_publisher import PublishError, RefusedError
from cdc_bridge.leases import LeaseLostError
from cdc_bridge.lineage import ShardKey
from cdc_bridge.message import Message, instead_of, messages_for
from cdc_bridge.pages import FULL_PAGE, GapError, Pages, PagesAhead
from cdc_bridge.shard_progress import (
    Checkpoint,
    Finished,
    Opened,
    Publish,
    Refusals,
    Shown,
    Tip,
    TooLateError,
    Verdict,
    check_beginning,
    is_tip,
    judge,
    plan,
    position_of,
)
from cdc_bridge.shard_report import ShardReport
from cdc_bridge.tips import Quiet, Showing
from cdc_bridge.translate import Record
from contracts import Codec
from murmuration_runtime.errors import StoreAwayError
from murmuration_runtime.retries import pauses

IDLE_SECONDS = (0.2, 0.5)  # AWS allows five calls a second on a shard
RETRY_SECONDS = (0.2, 5.0)
KAFKA_SECONDS = (0.02, 0.5)  # a step waits for Kafka for the shorter; then other shards have their turn
ALONE_MS = 3000  # the same for a message that goes alone
_NEXT = "what comes next"  # what the stream says that it lacks
Steps = Generator[float, None, bool]


class Batch(Protocol):
    """Messages on their way to Kafka; kafka_batches.Batch."""

    def settled(self, within: float) -> bool:
        """Say whether their fate is known, after at most so many seconds."""

    def wait(self) -> None:
        """Return when all are acknowledged; raise PublishError if they will not be."""


class Publisher(Protocol):
    """Brings messages to Kafka; kafka_publisher.Publisher."""

    def begin(self, messages: Sequence[Message]) -> Batch:
        """Send the messages, in order, and do not wait."""

    def publish_alone(self, message: Message, given_up: Callable[[], bool]) -> None:
        """Publish one message that shares no request with any other, so that a refusal is its own."""


def pause_after(records: int, pause: float) -> float:
    """Say how long to wait before the next call: a full page is followed at once, empty ones wait ever longer."""
    shortest, longest = IDLE_SECONDS
    if records >= FULL_PAGE:
        return 0
    return shortest if records else min(max(pause * 1.5, shortest), longest)


class ShardReader:
    """Publishes one shard for as long as the lease is held, a step at a time."""

    def __init__(
        self,
        shard: ShardKey,
        lease: HeldLease,
        codecs: Mapping[str, Codec],
        pages: Callable[[], Pages],
        publisher: Callable[[], AbstractContextManager[Publisher]],
        threads: Executor,
        policy: Policy,
        wall: Callable[[], int],
        steady: Callable[[], int],
    ) -> None:
        self.shard = shard
        self.lease = lease
        self.progressed_at = self.heard_at = steady()  # when a page succeeded; when a step was last taken
        self._codecs = codecs
        self._pages = pages
        self._publisher = publisher
        self._threads = threads
        self._policy = policy
        self._wall = wall
        self._steady = steady
        self._report = ShardReport(shard, lease, wall)
        self._refusals = Refusals()
        self._absences = Absences()  # AWS refuses a call for no reason now and then, or several in a row
        self._from_oldest = False  # what lies behind the checkpoint begins at the oldest record that is left
        self._stopping = threading.Event()
        self._given_up = threading.Event()
        self._steps = self._run()

    @property
    def trouble(self) -> Exception | None:
        """What keeps the shard from being read on."""
        return self._report.trouble

    def stop(self, *, at_once: bool = False) -> None:
        """Ask it to give the lease back: when its page is finished, or at once, because there is no more time."""
        if at_once:
            self._given_up.set()
        self._stopping.set()

    def step(self) -> float | None:
        """Work on for a while; return in how many seconds the next step is due, or None at the end."""
        self.heard_at = self._steady()
        return next(self._steps, None)

    def _run(self) -> Iterator[float]:
        """Publish until the shard ends, a gap opens, the lease is lost or somebody says stop."""
        try:
            if (yield from self._until_done()):
                self._leave("finished", self.lease.finish)
            else:
                self._leave("released", self.lease.release)
        except GapError as error:
            gap = self._report.gap(error)
            self._leave("failed", lambda: self.lease.fail(gap))
        except LeaseLostError as error:
            self._report.lost_lease(error)
        finally:
            self._report.end()

    def _until_done(self) -> Steps:
        """Work until the shard has ended (True) or somebody says stop (False); every failure is tried again."""
        waits = pauses(*RETRY_SECONDS)
        while not self._stopping.is_set():
            before = self.lease.progress.position
            try:
                if (yield from self._read_on()):
                    return True
            except (GapError, LeaseLostError):
                raise
            except Exception as error:  # noqa: BLE001 - whatever it was, the checkpoint is where to go on
                self._report.troubled(error)
            self._check_lease()
            if self.lease.progress.position != before:
                waits = pauses(*RETRY_SECONDS)
            if not self._stopping.is_set():
                yield next(waits)
        return False

    def _read_on(self) -> Steps:
        """Read pages; True at the shard's end, False when told to stop or after what seems to be a gap."""
        try:
            check_beginning(self.lease.progress, self._wall())
            return (yield from self._read_pages())
        except GapError as error:
            return self._judge(error)

    def _judge(self, error: GapError) -> bool:
        """Return True if nothing is left of the shard; raise the gap if somebody must clear it first."""
        if not (self._absences.look([_NEXT], self._steady()) or isinstance(error, TooLateError)):
            self._report.troubled(error)
            return False
        self._absences = Absences()
        match judge(error, self.lease.progress, self._wall(), read_from_oldest=self._from_oldest):
            case Verdict.NOTHING_LEFT if self._pages().is_closed():
                self._report.no_gap("shard finished: the stream has nothing left of it", error)
                return True
            case Verdict.NOTHING_LEFT:
                self._report.troubled(error)
            case Verdict.QUIET:
                self._report.no_gap("no gap: nothing was written to the shard after its last record", error)
                self._from_oldest = True
            case Verdict.LOST if self._policy is Policy.FAIL:
                raise error
            case Verdict.LOST:
                self.lease.go_on(self._report.gap(error))
        return False

    def _read_pages(self) -> Steps:
        """Read and publish page after page; True at the shard's end, False when told to stop."""
        pages = PagesAhead(self._pages(), self._threads, self._wall)
        read_to, pause = None if self._from_oldest else self.lease.progress.position, 0.0
        quiet, showing = Quiet(), Showing()
        with self._publisher() as publisher:
            while not self._stopping.is_set():
                self._check_lease()  # with no records too: whoever has it now would read beside us
                began = self._steady()
                page, asked_at = pages.read(read_to)
                tip_at = quiet.tip(page.records, asked_at)
                shown_until = showing.until(asked_at, is_tip=is_tip(page))
                self._absences = Absences()
                self._report.read(len(page.records))
                page_end = position_of(page.records[-1]) if page.records else read_to
                pause = pause_after(len(page.records), pause)
                if not (pause or page.last):
                    pages.fetch(page_end)
                known = self.lease.progress, read_to, tip_at, self._refusals
                for action in plan(page, *known, self._messages, shown_until):
                    match action:
                        case Publish():
                            yield from self._publish(publisher, action)
                        case Checkpoint(position):
                            self.lease.checkpoint(position)
                            self._from_oldest = False
                        case Opened():
                            self.lease.opened()
                        case Tip(at):
                            self.lease.note_tip(at)
                        case Shown(until):
                            self.lease.note_shown(until)
                        case Finished():
                            return True
                read_to, self._refusals = page_end, Refusals()
                self._report.progressed()
                self.progressed_at = self._steady()
                yield max(0, pause - (self.progressed_at - began) / 1000)
        return False

    def _publish(self, publisher: Publisher, action: Publish) -> Iterator[float]:
        """Go on when Kafka has acknowledged all; while it is away, wait without holding up other shards."""
        self._check_lease()
        began_ms = self._wall()
        try:
            if self._refusals.one_by_one:
                until = self._steady() + ALONE_MS
                for message in action.messages:
                    publisher.publish_alone(message, lambda: self._steady() > until or self._must_leave())
            else:
                batch, waits = publisher.begin(action.messages), pauses(*KAFKA_SECONDS)
                while not batch.settled(within=KAFKA_SECONDS[0]):
                    yield next(waits)
                    if self._must_leave():
                        raise PublishError("given up before Kafka acknowledged all")
                batch.wait()
        except RefusedError as error:
            about = f"event {action.records[0]['eventID']}: {error}" if self._refusals.one_by_one else str(error)
            self._refusals = self._refusals.and_of(action, str(error))
            raise RefusedError(about) from error
        self._report.published(action.messages, began_ms)

    def _must_leave(self) -> bool:
        return self._given_up.is_set() or not self.lease.is_held(self._steady())

    def _messages(self, record: Record) -> list[Message]:
        """Make a record's messages, or what goes to Kafka instead of those that it refused."""
        messages = messages_for(self.shard, record, self._codecs)
        for (event_id, number), reasons in self._refusals.reasons.items():
            if event_id == record["eventID"]:
                for reason in reasons:
                    messages[number] = instead_of(messages[number], self.shard, record, reason)
        return messages

    def _check_lease(self) -> None:
        if not self.lease.is_held(self._steady()):
            raise LeaseLostError("taken by another, or not renewed in time")

    def _leave(self, change: str, write: Callable[[], None]) -> None:
        """Give the lease back; if that fails it expires by itself."""
        try:
            write()
        except (LeaseLostError, StoreAwayError) as error:
            self._report.kept_lease(error)
        else:
            self._report.left(change)
