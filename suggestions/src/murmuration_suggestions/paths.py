"""Ways of two steps from somebody to somebody else. Pure.

Rule: a way is one number: whose it is, where it leads, and the rank of the person between. Sorted, all ways between
two people lie side by side, the best person between first. No list counts with more than the cap of its neighbours.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from murmuration_suggestions.adjacency import Adjacency, People
from murmuration_suggestions.pairs import Floats, Pairs, sums
from murmuration_suggestions.runs import Numbers, numbered, runs

RANK_BITS = 10
MOST_STEPS = 1 << RANK_BITS  # no cap is above it


@dataclass(frozen=True)
class Paths:
    """All ways from some people, sorted, and who is between."""

    ways: Numbers
    starts: Numbers  # where the ways of each pair begin
    counts: Numbers  # how many it has
    keys: Numbers  # the pairs
    steps: Numbers  # of each way, which of the first steps it takes
    between: People  # who stands between, for each first step

    def sums(self, of_steps: Floats) -> Pairs:
        """Add up for each pair what its first steps have, in the order of the ways."""
        group = np.repeat(np.arange(len(self.keys)), self.counts)
        return Pairs(self.keys, sums(group, of_steps[self.steps], len(self.keys)))

    def reasons(self, keys: Numbers, most: int) -> tuple[Numbers, Numbers, People]:
        """Return for each of these pairs how many stand between; and the best of them, as places in keys and people."""
        if not len(self.keys):
            return np.zeros(len(keys), np.int64), np.zeros(0, np.int64), np.zeros(0, np.int32)
        found = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        counts = np.where(self.keys[found] == keys, self.counts[found], 0)
        places, nth = numbered(np.minimum(counts, most))
        return counts, places, self.between[self.steps[self.starts[found][places] + nth]]


def two_steps(
    first: Adjacency, second: Adjacency, rows: Numbers, cap: int, worth: Callable[[People], Floats]
) -> tuple[Paths, Floats]:
    """Find all ways of two steps; return them with the weight of each first step, by how much was sampled.

    worth: how good each person is as the one between; the best comes first.
    """
    size = len(first.offsets) - 1
    out = first.pick(rows, cap)
    order = np.lexsort((out.people, -worth(out.people), out.places))
    places, between = out.places[order], out.people[order]
    begins = np.searchsorted(places, np.arange(len(rows)))
    rank = np.arange(len(places)) - begins[places]
    onward = second.pick(between, cap)
    ways = ((places[onward.places] * size + onward.people) << RANK_BITS) | rank[onward.places]
    ways.sort()
    of_way = ways >> RANK_BITS
    starts, counts = runs(of_way)
    keys = of_way[starts]
    steps = begins[of_way // size] + (ways & (MOST_STEPS - 1))
    weights = out.weights[order] * (second.degree(between) / np.maximum(np.minimum(second.degree(between), cap), 1))
    return Paths(ways, starts, counts, keys, steps, between), weights
