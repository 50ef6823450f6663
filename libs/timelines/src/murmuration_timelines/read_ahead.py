"""What was read of a timeline below its list, for the next page on any process. Pure.

Rule: only what is long past is kept, for that does not change but by deletions and follows. A page looks up every body
anyway, and what was read counts for the same authors only. So no history of a Redis node matters to it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b
from typing import Self

from murmuration_timelines.merge import Run, older
from murmuration_timelines.shown import Shown


@dataclass(frozen=True)
class ReadAhead:
    """A run of some authors that is complete from below an id down to its floor; and when the next may be read."""

    authors: str
    next_at: int  # in seconds
    below: str
    run: Run

    def part(self, authors: str, below: str) -> Run | None:
        """Return what lies below an id, if this is complete there."""
        if self.authors != authors or not self.below >= below > self.run.floor:
            return None
        return Run(older(self.run.ids, below), self.run.floor)

    def text(self) -> str:
        """Write it as it stands in Redis."""
        head = ";".join([self.authors, str(self.next_at), self.below, self.run.floor])
        return " ".join([head, *self.run.ids])

    @classmethod
    def read(cls, text: str) -> Self:
        """Read what `text` wrote."""
        head, *ids = text.split(" ")
        authors, next_at, below, floor = head.split(";")
        return cls(authors, int(next_at), below, Run(ids, floor))


def authors_name(authors: Iterable[str]) -> str:
    """Name a set of authors: another set has another name."""
    return blake2b(Shown.of(authors).digests, digest_size=8).hexdigest()
