"""Until when a shard is published, by the pages that came. Pure: no clock, no I/O.

Rule: AWS says of no page that it is the tip. A page with records proves as much as the own time of its last record, and
an empty page nothing: an iterator passes over stretches without records, and a record shows a little after its commit.
Only when pages have been empty for a while, many in a row, everything from before that while has shown itself.

That is too old for whoever must know of the last seconds. So there is a second answer, of less proof: until when all
that the stream has shown is published. A reader whose pages were far from full for a while is at the tip; there, three
such pages in a row have whatever there was to show when the first of them was asked for.
"""

from collections import deque
from collections.abc import Sequence

from cdc_bridge.translate import Record

QUIET_MS = 5_000  # ten pages and more of a shard that is idle
AT_THE_TIP = 3  # pages that are far from full, in a row


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


class Showing:
    """Since when a reader has seen nothing but pages that are far from full, and when it asked for the last of them."""

    def __init__(self) -> None:
        self._since: int | None = None
        self._asked: deque[int] = deque(maxlen=AT_THE_TIP)

    def until(self, asked_at: int, *, is_tip: bool) -> int | None:
        """Return until when what the shard has shown is published once this page is; None if unknown."""
        if not is_tip:
            self._since = None
            self._asked.clear()
            return None
        if self._since is None:
            self._since = asked_at
        self._asked.append(asked_at)
        return self._asked[0] if asked_at - self._since >= QUIET_MS and len(self._asked) == AT_THE_TIP else None
