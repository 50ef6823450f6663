"""Who reads a shard, and how far it is published. Pure: no clock, no I/O.

Rule: every write of an owner is conditional on owner and epoch, and every other write raises the epoch: taking a
shard, and whatever an operator orders. So whoever lost a shard can write nothing more, however late it wakes up.
Clocks decide only how soon a dead owner's shard is taken, never who may write.
"""

from dataclasses import dataclass
from typing import Protocol

from cdc_bridge.lineage import Row, State
from contracts.tables import LEASES

TOPICS_KEY = LEASES.topics()
table_key = LEASES.streams_of


class LeaseLostError(Exception):
    """The row has changed hands, or an operator has changed it: stop producing for the shard."""


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to read one shard, from the position that its owner found."""

    stream_arn: str
    shard_id: str
    owner: str
    epoch: int
    expires_at: int
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


class Leases(Protocol):
    """The rows of all shards, streams, topics and bridges; dynamo_leases.LeaseTable, and the tests' own in memory.

    Rows lie in partitions: a stream's ARN for its shards, table_key() for a table's streams, TOPICS_KEY for the topics.
    Any method may raise StoreAwayError. Those that take a Lease raise LeaseLostError unless it is still held.
    """

    def rows(self, stream_arn: str) -> dict[str, Row]:
        """Return all rows of a partition, by name."""

    def take(self, stream_arn: str, shard_id: str, owner: str, now: int, since: int) -> Lease | None:
        """Take a shard that is free or whose lease expired; None if it is another's, finished, or has a gap.

        A shard that is new was born after `since`: whatever it holds is younger.
        """

    def save(self, lease: Lease, progress: Progress, until: int | None) -> None:
        """Write the progress and keep the lease until then, or give it back; the position never moves backwards."""

    def renew(self, lease: Lease, now: int, tip_at: int) -> int:
        """Keep the lease, and remember until when the shard is published; return until when the lease is kept."""

    def checkpoint(self, lease: Lease, position: str) -> None:
        """Remember that everything up to the position is published; never moves backwards."""

    def opened(self, lease: Lease, tip_at: int) -> None:
        """Remember that the shard had nothing up to its tip, so that whatever comes is published."""

    def finish(self, lease: Lease, tip_at: int) -> None:
        """Remember that the shard is published to its end, and give the lease back."""

    def release(self, lease: Lease) -> None:
        """Give the lease back, for anybody to take at once."""

    def fail(self, lease: Lease, gap: str) -> None:
        """Remember a gap that nobody passes until an operator has cleared it, and give the lease back."""

    def go_on(self, lease: Lease, gap: str, now: int) -> None:
        """Remember a gap, and that the shard goes on at whatever is left of it now."""

    def note(self, stream_arn: str, row: Row) -> bool:
        """Write a row that nobody owns, unless there is one; say whether it was written."""

    def overrule(self, stream_arn: str, was: Row, becomes: Row) -> bool:
        """Change a row, whoever owns the shard, and end that ownership; False if the row was no longer what it was."""

    def advance(self, stream_arn: str, shard_id: str, tip_at: int) -> None:
        """Remember until when a whole stream is published; never moves backwards."""

    def prune(self, stream_arn: str, row: Row) -> None:
        """Forget a row, unless somebody has taken or changed it since."""

    def live(self, owner: str, now: int) -> dict[str, int]:
        """Say that a bridge is alive; return all that are, with until when they are believed to be."""

    def leave(self, owner: str) -> None:
        """Say that a bridge is gone."""
