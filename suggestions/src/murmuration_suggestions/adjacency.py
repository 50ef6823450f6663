"""Who has which neighbours, in two arrays. Pure, and the arrays may be files that are mapped into memory.

Rule: of a list that is longer than a cap, a fixed sample stands for all of it: the list is cut into as many parts of
nearly equal length, and one neighbour is drawn of each. A neighbour that was drawn weighs as many as its part has, so
what is counted with weights is right on average, and exact where nothing is longer than the cap.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from murmuration_suggestions.draws import draws
from murmuration_suggestions.runs import Numbers, numbered, runs

AT_ONCE = 4_000_000  # neighbours that are looked at together, by whoever looks at everybody's
People = NDArray[np.int32]  # the numbers of people; two milliards of them are enough


@dataclass(frozen=True)
class Picked:
    """Neighbours of some rows: of which row, by its place among those asked, who, and for how many they stand."""

    places: Numbers
    people: People
    weights: Numbers


@dataclass(frozen=True)
class Adjacency:
    """The neighbours of person p are people[offsets[p]:offsets[p + 1]], ascending."""

    offsets: Numbers
    people: People

    @classmethod
    def of(cls, rows: Numbers, people: NDArray[np.integer], size: int) -> Self:
        """Build it from pairs, in any order, each any number of times."""
        pairs = np.sort(np.asarray(rows, np.int64) * size + people)
        pairs = pairs[runs(pairs)[0]]
        offsets = np.zeros(size + 1, np.int64)
        np.cumsum(np.bincount(pairs // size, minlength=size), out=offsets[1:])
        return cls(offsets, (pairs % size).astype(np.int32))

    @property
    def degrees(self) -> Numbers:
        """How many neighbours each person has."""
        return np.diff(self.offsets)

    def degree(self, rows: Numbers | People) -> Numbers:
        """How many neighbours each of these people has."""
        degrees: Numbers = self.offsets[rows + 1] - self.offsets[rows]
        return degrees

    def ranges(self, begin: int, end: int, at_once: int = AT_ONCE) -> list[tuple[int, int]]:
        """Cut a range of people into ranges with so many neighbours that memory stays small."""
        offsets = self.offsets[begin : end + 1]
        marks = begin + np.searchsorted(offsets, np.arange(offsets[0], offsets[-1], at_once))
        ends = np.unique(np.concatenate(([begin], marks, [end])))
        return [*zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)]

    def pick(self, rows: Numbers | People, cap: int | None = None) -> Picked:
        """Return the neighbours of these rows, of none more than the cap."""
        degrees = self.degree(rows)
        taken = degrees if cap is None else np.minimum(degrees, cap)
        places, nth = numbered(taken)
        if cap is None or (degrees <= cap).all():
            weights = np.ones(len(places), np.int64)
            chosen = nth
        else:
            of, among = degrees[places], taken[places]
            begins = nth * of // among
            weights = (nth + 1) * of // among - begins
            drawn = draws(rows[places].astype(np.uint64), nth.astype(np.uint64))
            chosen = begins + (drawn % weights.astype(np.uint64)).astype(np.int64)
        return Picked(places, self.people[self.offsets[rows][places] + chosen], weights)
