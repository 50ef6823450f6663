"""Work that is due until a look at it finds nothing. Pure: time and pace are arguments.

Rule: what is due stays so until a whole look, begun when nothing can be added any more, finds nothing. All else is
repeating: whatever crashed, ran twice, or came late, the next look finds what is left.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

AGAIN_MS = 30_000  # between two looks at the same

Due = TypeVar("Due", bound=Hashable)
Place = TypeVar("Place")


class Work(Protocol[Due, Place]):
    """What is due, and how a page of it is done."""

    def due(self) -> list[Due]:
        """List what may not all be done yet."""

    def settled_at(self, due: Due) -> int:
        """Return from when on nothing can be added, in ms."""

    def take(self, due: Due, place: Place | None) -> tuple[int, Place | None]:
        """Do a page from this place on; return how much was done, and where to go on, None at the end."""

    def finish(self, due: Due) -> None:
        """Take it off the list, if it is there."""


@dataclass(frozen=True)
class Turn(Generic[Due]):
    """What came of a turn: how many are due, how much was done of each, which are finished, and if there is more."""

    due: int
    done: dict[Due, int]
    finished: list[Due]
    unfinished: bool


@dataclass
class _Look(Generic[Place]):
    """How far a look is, and what it found."""

    begins: int
    place: Place | None = None
    found: int = 0


@dataclass
class Looks(Generic[Due, Place]):
    """Looks at all that is due, a page of each in turn: one with very much keeps nobody waiting."""

    work: Work[Due, Place]
    now: Callable[[], int]
    pace: Callable[[], object]
    _looks: dict[Due, _Look[Place]] = field(default_factory=dict)

    def turn(self) -> Turn[Due]:
        """Take a page of everything that is due and was not looked at just now."""
        self.pace()
        self._looks = {due: self._looks.get(due) or _Look(self.now()) for due in self.work.due()}
        done: dict[Due, int] = {}
        finished = []
        for due, look in self._looks.items():
            if look.begins > self.now():
                continue
            self.pace()
            count, look.place = self.work.take(due, look.place)
            look.found += count
            if count:
                done[due] = count
            if look.place is None:
                if not look.found and look.begins >= self.work.settled_at(due):
                    self.pace()
                    self.work.finish(due)
                    finished.append(due)
                self._looks[due] = _Look(self.now() + AGAIN_MS)
        unfinished = any(look.place is not None for look in self._looks.values())
        return Turn(len(self._looks), done, finished, unfinished)
