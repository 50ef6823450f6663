"""What stands before the digests of whom a timeline shows: its edition, when it was built, when it is due. Pure.

Rule: nothing derived lives for ever. A timeline that is read is compared with the tables about once a day, and one that
was built REBUILT_SECONDS ago is built anew then; chance spreads both in time.
"""

from dataclasses import dataclass

DAY = 86_400
REBUILT_SECONDS = 12 * DAY  # so that with the day between two looks, and a quarter of it, no timeline gets 14 days old
SPREAD = 0.25


@dataclass(frozen=True)
class Head:
    """Of a warm timeline. Times are in seconds."""

    text: str
    edition: str
    built: int
    due: int

    def is_due(self, now: float) -> bool:
        """Tell whether the timeline is to be looked at."""
        return now >= self.due

    def is_old(self, now: float) -> bool:
        """Tell whether it is to be built anew, whatever it is like."""
        return now >= self.built + REBUILT_SECONDS

    def due_at(self, due: int) -> str:
        """Return the text with another time to look at it."""
        return f"{self.text.rpartition(';')[0]};{due}"


def read_head(text: str) -> Head:
    """Read what begin with a PREFIX."""
    _prefix, edition, built, due = text.split(";")
    return Head(text, edition, int(built), int(due))


def next_look(now: float, drawn: float) -> int:
    """Return when to look again, about a day from now. drawn: a number from 0 to 1."""
    return int(now + DAY * (1 - SPREAD + 2 * SPREAD * drawn))


def ages(now: float, drawn: float) -> str:
    """Write when a timeline was built that is built now, and when it is due."""
    return f"{int(now)};{next_look(now, drawn)}"
