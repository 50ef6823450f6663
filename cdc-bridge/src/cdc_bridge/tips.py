"""Until when a shard is published, by the pages that came. Pure: no clock, no I/O.

Rule: AWS says of no page that it is the tip. A page with records proves as much as the own time of its last record, and
an empty page nothing: an iterator passes over stretches without records, and a record shows a little after its commit.
Only when pages have been empty for a while, many in a row, everything from before that while has shown itself.
"""

from collections.abc import Sequence

from cdc_bridge.translate import Record

QUIET_MS = 5_000  # ten pages and more of a shard that is idle


def created_ms(record: Record) -> int:
    """Return the stream's own time of a record: coarse, and rounded down."""
    return int(record["dynamodb"].get("ApproximateCreationDateTime", 0) * 1000)


class Quiet:
    """Since when a reader has seen nothing but empty pages of its shard."""

    def __init__(self) -> None:
        self._since: int | None = None

    def tip(self, records: Sequence[Record], asked_at: int) -> int | None:
        """Return until when the shard is published once this page is, which was asked for then; None if unknown."""
        if records:
            self._since = None
            return created_ms(records[-1])
        if self._since is None:
            self._since = asked_at
        return asked_at - QUIET_MS if asked_at - self._since >= QUIET_MS else None
