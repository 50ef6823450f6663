"""A list that lies in several parts, each with its newest first: one page after another of all of them. Pure: no I/O.

Rule: the order is by time, newest first; of one moment by the number of the part; within a part as the part has it. So
a place in one part says for each other where to go on, and nobody is shown twice or passed over.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import ceil, sqrt
from typing import Any

from follow_service.lists import Row

MORE = 3  # rows that are asked of a part beyond what it most probably has to give


@dataclass
class Part:
    """What was read of one part; `rest` says where it goes on, None when it is read to its end."""

    number: int
    rest: Any
    rows: list[Row] = field(default_factory=list)

    def places(self) -> Iterator[tuple[int, int, int]]:
        """Give the place of each row in the order of the whole list."""
        return ((-row.at, self.number, place) for place, row in enumerate(self.rows))


Read = Callable[[Sequence[Part], int], None]
"""Reads each of these parts on, by so many rows at most: adds them to its rows, and says what the rest is."""


def newest(parts: Sequence[Part], most: int, read_on: Read) -> tuple[list[Row], Row | None]:
    """Return so many rows of all parts, newest first, and after which row the list goes on; None at its end."""
    while True:
        known = sorted(place for part in parts for place in part.places())
        last = known[most - 1] if len(known) >= most else None
        behind = [part for part in parts if part.rest is not None and _ends_before(part, last)]
        if not behind:
            break
        read_on(behind, share(most, len(parts)))
    by_number = {part.number: part for part in parts}
    rows = [by_number[number].rows[place] for _, number, place in known[:most]]
    is_all = len(known) <= most and all(part.rest is None for part in parts)
    return rows, None if is_all or not rows else rows[-1]


def share(most: int, parts: int) -> int:
    """Return how many rows of each part are nearly always enough for so many of all."""
    mean = most / parts
    return ceil(mean + 3 * sqrt(mean)) + MORE


def _ends_before(part: Part, last: tuple[int, int, int] | None) -> bool:
    """Say whether a part may have more rows that belong before this place."""
    ends: Iterable[tuple[int, int, int]] = [*part.places()][-1:]
    return last is None or all(end < last for end in ends)
