"""Who reads a shard, and how far it is published. Pure: no clock, no I/O.

Rule: every write of an owner is conditional on owner and epoch, and every other write raises the epoch: taking a
shard, and whatever an operator orders. So whoever lost a shard can write nothing more, however late it wakes up.
Time decides only how soon a dead owner's shard is taken, never who may write.
A write whose answer was lost, and which botocore repeats, recognises itself in the row that it finds.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Protocol

from cdc_bridge.lineage import Row, State
from contracts.tables import LEASES

TOPICS_KEY = LEASES.topics()
table_key = LEASES.streams_of


class LeaseLostError(Exception):
    """The row has changed hands, or an operator has changed it: stop producing for the shard."""

    def __init__(self, text: str, found: Row | None = None) -> None:
        super().__init__(text)
        self.found = found  # the row as it is now


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to read one shard, from the position that its owner found."""

    part: str  # the partition in which its row lies
    shard_id: str
    owner: str
    epoch: int
    state: State
    position: str | None
    since: int
    tip_at: int


@dataclass(frozen=True, slots=True)
class Progress:
    """What an owner remembers about its shard, as Row says; a gap of None leaves the row's own."""

    state: State
    position: str | None
    since: int
    tip_at: int
    gap: str | None = None
    shown_until: int = 0


class Leases(Protocol):
    """The rows of all shards, streams, topics and bridges; dynamo_leases.LeaseTable.

    Rows are `of` something: table_key() of a table's streams, TOPICS_KEY of the topics, a stream's ARN of its shards.
    Those of shards lie in several partitions, and know in which: lease_parts.py.
    Any method may raise StoreAwayError. save() raises LeaseLostError unless the lease is still held.
    """

    def rows(self, of: str) -> dict[str, Row]:
        """Return all rows of a stream, a table or the topics, by name."""

    def must_move(self, part: str) -> bool:
        """Say whether a row in this partition moves when it is taken next: so give it back."""

    def take(self, stream_arn: str, seen: Row, owner: str, until: int) -> Lease | None:
        """Take a shard whose row is as it was seen; None if it has changed since, is finished, or has a gap.

        Whoever sees a row of another owner judges whether that one lives: expiry.py.
        """

    def save(self, lease: Lease, progress: Progress, until: int | None) -> None:
        """Write the progress and keep the lease until then, or give it back; the position never moves backwards."""

    def note(self, of: str, row: Row) -> bool:
        """Write a row that nobody owns, unless there is one; say whether it was written."""

    def overrule(self, of: str, was: Row, becomes: Row) -> bool:
        """Change a row, whoever owns the shard, and end that ownership; False if the row was no longer what it was."""

    def advance(self, of: str, stream_arn: str, tip_at: int) -> None:
        """Remember until when a whole stream is published; never moves backwards."""

    def show(self, of: str, stream_arn: str, shown_until: int) -> None:
        """Remember until when all that a whole stream has shown is published; never moves backwards."""

    def prune(self, of: str, row: Row) -> None:
        """Forget a row, unless somebody has taken or changed it since."""

    def live(self, owner: str, tables: Collection[str], until: int) -> dict[str, Row]:
        """Say that a bridge is alive and reads these tables; return the rows of all that said so and did not leave."""

    def leave(self, owner: str) -> None:
        """Say that a bridge is gone."""
