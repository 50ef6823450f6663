"""Which shards may be read now, and what was lost before it was read. Pure: no clock, no I/O.

Rule: an item's changes move from a shard to its children, so a child waits until its parent has been read to the end.
All shards of a stream's first listing get a row at once, so a shard without a row was born later, of a parent that
had one. A parent that listings no longer name has aged out: if it was finished, or was gone before the first listing,
its children may go; if it was not finished, or came after that and nobody ever saw it, its records are lost. That is a
gap, and the children wait until it is passed. One listing proves nothing: absences.py says what is gone for good.
Times come from several bridges' clocks, which may differ by CLOCKS_MS: what may be too old by one of them is too old.
"""

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from contracts.tables import LEASES
from contracts.topic import STREAM_RETENTION_MS

RETENTION_MS = STREAM_RETENTION_MS  # how long a stream keeps a record
CLOCKS_MS = 3_600_000  # how far apart the clocks of two bridges may be
KEPT_MS = 2 * RETENTION_MS  # how long the row of a finished shard is kept: its children have long been seen by then


@dataclass(frozen=True, slots=True)
class ShardKey:
    """Which shard, among those of all tables and streams."""

    table: str
    stream_arn: str
    shard_id: str


@dataclass(frozen=True, slots=True)
class Shard:
    """One shard of a stream, as a listing names it."""

    shard_id: str
    parent_id: str | None


class State(StrEnum):
    """How far a shard has been read."""

    OPENED = "opened"  # nothing published yet: it starts at its very beginning, and that must still be there
    LEFT = "left"  # nothing published yet: it starts at whatever is left of it, and that may be nothing
    SKIPPING = "skipping"  # what is certainly older than our first look at it is not published
    READING = "reading"  # everything up to its position is published
    GAP = "gap"  # what comes next was lost: nobody reads it until an operator has cleared the gap
    ENDED = LEASES.ENDED  # read to its end


@dataclass(frozen=True, slots=True)
class Row:
    """What is remembered about a shard; also about a table's stream, about a topic, and about a bridge."""

    shard_id: str
    state: State
    position: str | None = None  # the last published sequence number, as the stream wrote it; or the topic's id
    owner: str | None = None
    epoch: int = 0
    expires_at: int = 0
    renewals: int = 0
    since: int = 0  # whatever was committed after this moment (ms) must be published, or told as a gap
    tip_at: int = 0  # whatever had to be published and was committed before this moment is published
    gap: str | None = None  # what was lost, until an operator clears it
    shown_until: int = 0  # whatever its stream had shown before this moment is published; 0 says nothing
    tables: frozenset[str] = frozenset()  # of a bridge: whose streams it reads; of one up to 0.3.0 none
    part: str = field(default="", compare=False)  # the partition of the leases table in which it lies; "" before that


def published_before(since: int, tip_at: int) -> int:
    """Return the moment (ms) before which a shard is published: its `tip_at`, or `since` if nothing was ever read.

    Its children begin there. `since` moves when a gap is passed, and that gap covers nothing of the children.
    """
    return tip_at or since


def readable(listing: Iterable[Shard], rows: Mapping[str, Row], gone: Collection[Hashable]) -> list[Shard]:
    """Return the shards of a complete listing that are not finished, and whose parents are, or are gone for good.

    Only a shard of the first listing may have a parent that was gone before it.
    """

    def may(shard: Shard) -> bool:
        row = rows.get(shard.shard_id)
        if row is not None and row.state in (State.ENDED, State.GAP):
            return False
        return shard.parent_id not in unfinished and not (row and _is_of_first_listing(row) and shard.parent_id in away)

    shards = list(listing)
    known = {shard.shard_id for shard in shards} | set(rows)
    ended = {shard_id for shard_id, row in rows.items() if row.state is State.ENDED}
    unfinished = known - ended | _unseen(shards, rows)
    away = {name for name in strangers(shards, rows) if name not in gone}
    return [shard for shard in shards if may(shard)]


def strangers(listing: Iterable[Shard], rows: Mapping[str, Row]) -> set[str]:
    """Return the parents that are neither listed nor known: they have aged out, or this listing left them out."""
    shards = list(listing)
    known = {shard.shard_id for shard in shards} | set(rows)
    return {shard.parent_id for shard in shards if shard.parent_id and shard.parent_id not in known}


def lost(listing: Iterable[Shard], rows: Mapping[str, Row], now: int) -> set[str]:
    """Return the shards that are gone from a complete listing though they were not finished, or never even seen."""
    shards = list(listing)
    return {row.shard_id for row in _gone(shards, rows) if not _only_left(row, now)} | _unseen(shards, rows)


def exhausted(listing: Iterable[Shard], rows: Mapping[str, Row], now: int) -> set[str]:
    """Return the shards of which whatever was left should be read, and nothing is: they are finished."""
    return {row.shard_id for row in _gone(listing, rows) if _only_left(row, now)}


def is_overdue(since: int, tip_at: int, now: int) -> bool:
    """Say whether something that had to be published may be older than a stream keeps it, by any bridge's clock."""
    return now - max(since, tip_at) >= RETENTION_MS - CLOCKS_MS


def _gone(listing: Iterable[Shard], rows: Mapping[str, Row]) -> list[Row]:
    listed = {shard.shard_id for shard in listing}
    return [row for name, row in rows.items() if name not in listed and row.state not in (State.ENDED, State.GAP)]


def _only_left(row: Row, now: int) -> bool:
    """Say whether all that the shard held is older than what had to be published of it."""
    return _is_of_first_listing(row) and not is_overdue(row.since, row.tip_at, now)


def _is_of_first_listing(row: Row) -> bool:
    """Say whether nothing of a shard of the first listing is published yet; or of one whose gap was passed."""
    return row.state in (State.LEFT, State.SKIPPING)


def _unseen(listing: Sequence[Shard], rows: Mapping[str, Row]) -> set[str]:
    """Return the parents that nobody ever saw: not listed, not known, and their children were born after the rows."""
    away = strangers(listing, rows)
    return {it.parent_id for it in listing if it.shard_id not in rows and it.parent_id in away}


def drained(listing: Iterable[Shard], rows: Mapping[str, Row]) -> bool:
    """Say whether everything that the stream holds and ever held is finished."""
    listed = {shard.shard_id for shard in listing}
    return all(row.state is State.ENDED for row in rows.values()) and listed <= set(rows)


def prunable(listing: Collection[Shard], rows: Mapping[str, Row], now: int) -> set[str]:
    """Return the rows that no shard's reading depends on any more: finished long ago, and no child is still to come."""
    needed = {shard.shard_id for shard in listing}
    needed |= {shard.parent_id for shard in listing if shard.parent_id and shard.shard_id not in rows}
    return {
        name
        for name, row in rows.items()
        if row.state is State.ENDED
        and row.gap is None
        and name not in needed
        and now - max(row.since, row.tip_at) > KEPT_MS
    }


def tip(listing: Iterable[Shard], rows: Mapping[str, Row], listed_at: int) -> int:
    """Say until when the whole stream is published: as far as the shard that is furthest behind.

    A finished shard whose child nobody has listed yet is furthest behind as long as it ends where it ended: the child
    may have been written to ever since. Of a child without a row nothing is published but what its parent had.
    """
    shards = list(listing)
    parents = {shard.parent_id for shard in shards}
    tips = [listed_at]
    parents_rows = [rows.get(shard.parent_id or "") for shard in shards if shard.shard_id not in rows]
    tips += [row.tip_at if row else 0 for row in parents_rows]
    for name, row in rows.items():
        is_childless = name not in parents and listed_at - max(row.since, row.tip_at) < RETENTION_MS + CLOCKS_MS
        if row.state is not State.ENDED or is_childless:
            tips.append(row.tip_at)
    return min(tips)


def shown(listing: Iterable[Shard], rows: Mapping[str, Row], now: int) -> int:
    """Say until when all that a whole stream has shown is published; 0 if that is not known.

    Of an open shard that also says that it had no children by then. What was lost, and is not cleared yet, is no more
    published than what a child has that is not listed yet, or not begun.
    """
    shards = list(listing)
    parents = {shard.parent_id for shard in shards}
    of_parents = [rows.get(shard.parent_id or "") for shard in shards if shard.shard_id not in rows]
    untils = [row.shown_until if row else 0 for row in of_parents]
    for name, row in rows.items():
        is_childless = name not in parents and now - max(row.since, row.tip_at) < RETENTION_MS + CLOCKS_MS
        if row.state is not State.ENDED or is_childless or row.gap:
            untils.append(0 if row.gap else row.shown_until)
    return min(untils, default=0)
