"""What is where in Redis, and for how long. Pure.

| key | type | content | lives |
|---|---|---|---|
| `suggested.run` | string | which run counts: VERSION, a space, what else is known of it as JSON | 3 days |
| `suggested.writer{suggested.run}` | string | who began last to write a run, on the node of `suggested.run` | 3 days |
| `suggested.refused` | string | the last run that was refused, until one is not: the same | 3 days |
| `suggested:{USER}:VERSION` | string | whom a run suggests to USER: a list | 3 days |
| `suggested:{USER}:online` | string | the same, for somebody whom no run knows | 1 minute |

    VERSION  the moment at which a run began, such as 20261119T165735Z: a later run has a greater one.
    list     a text. Its first line names the people that reasons are made of; each other line is a suggestion, the best
             first: who, how many whom USER follows follow them, and which of the first line's people are among these,
             by their numbers there. All parted by spaces, which no user's id has.

Rule of runs: a run's lists are written under its own version, and nobody reads them before `suggested.run` names it.
So everybody reads all of one run, or all of another. Of those before only the last is kept, for who still reads it.
Rule of writers: whoever begins to write forgets what others wrote, so the others switch to nothing any more: they see
that another one began, and write anew.
Rule of loss: Redis may lose anything at any time. A run of which a node lost some while it was written is not read.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import overload

RUN = "suggested.run"
WRITER = f"suggested.writer{{{RUN}}}"
REFUSED = "suggested.refused"
ONLINE = "online"
LISTS = "suggested:{*"  # as SCAN matches them

RUN_SECONDS = 3 * 86_400
ONLINE_SECONDS = 60


@dataclass(frozen=True)
class Suggestion:
    """Whom to follow, and why: some of those whom one follows and who follow them, and how many there are."""

    user_id: str
    count: int = 0
    because: tuple[str, ...] = ()


def suggested(user_id: str, version: str) -> str:
    """Name the list of a user in a run, or the one that was made online."""
    return f"suggested:{{{user_id}}}:{version}"


def version_of(key: str) -> str:
    """Return which run a list is of."""
    return key.rpartition("}:")[2]


def to_text(suggestions: Iterable[Suggestion]) -> str:
    """Write a list."""
    friends: dict[str, int] = {}
    lines = []
    for each in suggestions:
        numbers = [friends.setdefault(friend, len(friends)) for friend in each.because]
        lines.append(" ".join(map(str, (each.user_id, each.count, *numbers))))
    return "\n".join([" ".join(friends), *lines])


def from_text(text: str) -> Sequence[Suggestion]:
    """Read a list; each suggestion when it is looked at, since a page shows a fifth of them."""
    first, *lines = text.split("\n")
    return _Read(first.split(" "), lines)


class _Read(Sequence[Suggestion]):
    """Equal to any sequence of the same suggestions."""

    def __init__(self, friends: list[str], lines: list[str]) -> None:
        self._friends = friends
        self._lines = lines

    def __len__(self) -> int:
        return len(self._lines)

    @overload
    def __getitem__(self, place: int) -> Suggestion: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Suggestion]: ...
    def __getitem__(self, place: int | slice) -> Suggestion | Sequence[Suggestion]:
        if isinstance(place, slice):
            return _Read(self._friends, self._lines[place])
        user_id, count, *numbers = self._lines[place].split(" ")
        return Suggestion(user_id, int(count), tuple(self._friends[int(number)] for number in numbers))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and [*self] == [*other]

    __hash__ = None  # type: ignore[assignment]
