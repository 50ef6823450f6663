"""What to do with a page of a shard, and with a gap in it. Pure: no clock, no I/O.

Rule: the messages of each record are published once and in order, or a dead letter in the place of one; a checkpoint
comes after whatever it covers, and so after all messages of its record; and only behind all of that comes the question
whether the shard has ended.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from itertools import takewhile

from cdc_bridge.leases import Progress
from cdc_bridge.lineage import State, is_overdue
from cdc_bridge.message import Message
from cdc_bridge.pages import FULL_PAGE, GapError, Page, TrimmedError
from cdc_bridge.tips import created_ms
from cdc_bridge.translate import Record

COARSE_MS = 60_000  # a record's own time may be that much too early


class TooLateError(GapError):
    """The shard was not begun within the stream's retention: what its beginning held is not known."""


class Verdict(Enum):
    """What it means that the stream does not have what comes next."""

    LOST = auto()  # a gap
    NOTHING_LEFT = auto()  # only what is left had to be published; it is nothing if the shard is closed
    QUIET = auto()  # the last record is trimmed, and nothing came after it: what comes next is the oldest record


@dataclass(frozen=True, slots=True)
class Publish:
    """Bring these messages to Kafka, together; of one that goes alone, which of its record's messages it is."""

    records: Sequence[Record]
    messages: Sequence[Message]
    number: int = 0


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Everything up to this position is published."""

    position: str


@dataclass(frozen=True, slots=True)
class Opened:
    """The shard was read to its tip, and nothing had to be published: from here on nothing may be missing."""


@dataclass(frozen=True, slots=True)
class Tip:
    """Until when the shard is published."""

    at: int


@dataclass(frozen=True, slots=True)
class Shown:
    """Until when whatever the shard has shown is published."""

    until: int


@dataclass(frozen=True, slots=True)
class Finished:
    """The shard is published to its end."""


Action = Publish | Checkpoint | Opened | Tip | Shown | Finished


@dataclass(frozen=True, slots=True)
class Refusals:
    """What Kafka refused of the page behind the checkpoint: first of the page, then of each message alone."""

    one_by_one: bool = False
    reasons: Mapping[tuple[str, int], Sequence[str]] = field(default_factory=dict)  # by event id and number

    def and_of(self, refused: Publish, reason: str) -> "Refusals":
        """Publish the page again, one by one; a message that was refused alone is replaced by a dead letter."""
        if not self.one_by_one:
            return Refusals(one_by_one=True)
        place = refused.records[0]["eventID"], refused.number
        return Refusals(True, {**self.reasons, place: [*self.reasons.get(place, ()), reason]})


def plan(
    page: Page,
    progress: Progress,
    read_to: str | None,
    tip_at: int | None,
    refusals: Refusals,
    messages_of: Callable[[Record], Sequence[Message]],
    shown_until: int | None = None,
) -> Iterator[Action]:
    """Say what to do, in this order, with the page behind read_to.

    Once it is published, the shard is until tip_at, and what it has shown is until shown_until.
    """
    old = list(takewhile(lambda record: _is_old(record, progress), page.records))
    new = page.records[len(old) :]
    if new and not refusals.one_by_one:
        yield Publish(new, [message for record in new for message in messages_of(record)])
        yield Checkpoint(position_of(new[-1]))
    for record in new if refusals.one_by_one else []:
        yield from (Publish([record], [message], number) for number, message in enumerate(messages_of(record)))
        yield Checkpoint(position_of(record))
    if tip_at is not None and (page.records or not page.last):
        yield Tip(tip_at)
    if shown_until is not None and not page.last:
        yield Shown(shown_until)
    at_tip = is_tip(page) and not page.last
    if at_tip and wants_only_what_is_left(progress) and not new:
        behind = position_of(old[-1]) if old else read_to
        yield Checkpoint(behind) if behind else Opened()
    if page.last:  # no tip: its child may have been written to for long
        yield Finished()


def position_of(record: Record) -> str:
    """Return a record's place in its shard."""
    position: str = record["dynamodb"]["SequenceNumber"]
    return position


def is_tip(page: Page) -> bool:
    """Say whether a page reached the shard's tip: it is far from full, and the 1 MB cap cuts no page of small rows."""
    return len(page.records) < FULL_PAGE // 2


def wants_only_what_is_left(progress: Progress) -> bool:
    """Say whether trimmed records are no gap, because they had not to be published."""
    return progress.state in (State.LEFT, State.SKIPPING)


def check_beginning(progress: Progress, now: int) -> None:
    """Refuse to begin a shard whose first records may be older than the stream keeps them."""
    since = max(progress.since, progress.tip_at)
    if progress.position is None and is_overdue(since, 0, now):
        raise TooLateError(f"not begun in time: of what was committed after {since} ms, some may be trimmed")


def judge(error: GapError, progress: Progress, now: int, *, read_from_oldest: bool) -> Verdict:
    """Say what it means that the stream does not have what comes next."""
    if isinstance(error, TooLateError):
        return Verdict.LOST
    if wants_only_what_is_left(progress):
        return Verdict.NOTHING_LEFT
    was_quiet = progress.position is not None and not is_overdue(0, progress.tip_at, now)
    if isinstance(error, TrimmedError) and was_quiet and not read_from_oldest:
        return Verdict.QUIET
    return Verdict.LOST


def _is_old(record: Record, progress: Progress) -> bool:
    """Say whether a record is not published: it is already, or it was there before the first start."""
    if progress.state is State.SKIPPING:
        return created_ms(record) + COARSE_MS < progress.since
    return int(position_of(record)) <= int(progress.position or -1)
