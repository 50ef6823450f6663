"""Pairs of somebody and whom they may be shown, each as one number, so that sorting brings equal ones together. Pure.

Rule: everything about a pair is added up in an order that depends on the graph alone: what comes out is the same to the
last bit, whoever is computed together with whom.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from murmuration_suggestions.adjacency import Adjacency
from murmuration_suggestions.runs import Numbers, runs

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Pairs:
    """Pairs, ascending, each once; of each a value. A pair is the place of somebody among those asked, and a person."""

    keys: Numbers
    values: Floats

    def at(self, keys: Numbers) -> Floats:
        """Return the values of these pairs, 0 where there is none."""
        if not len(self.keys):
            return np.zeros(len(keys))
        found = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[found] == keys, self.values[found], 0.0)


def counted(keys: Numbers) -> Pairs:
    """Count how often each pair is there; changes the order of what it is given."""
    keys.sort()
    starts, counts = runs(keys)
    return Pairs(keys[starts], counts.astype(np.float64))


def sums(groups: Numbers, values: Floats, size: int) -> Floats:
    """Add up the values of each group, one after the other."""
    totals: Floats = np.bincount(groups, weights=values, minlength=size)  # type: ignore[assignment]
    return totals


def each_once(*keys: Numbers) -> Numbers:
    """Return all pairs that are in any of these arrays, ascending."""
    ordered = np.concatenate(keys)
    ordered.sort()  # by far faster than np.unique
    return ordered[runs(ordered)[0]]


def is_among(keys: Numbers, ordered: Numbers) -> NDArray[np.bool_]:
    """Tell which keys are in an ascending array."""
    if not len(ordered):
        return np.zeros(len(keys), bool)
    found: NDArray[np.bool_] = ordered[np.minimum(np.searchsorted(ordered, keys), len(ordered) - 1)] == keys
    return found


def listed(adjacency: Adjacency, rows: Numbers) -> Numbers:
    """Return the pairs of each row and its neighbours, ascending."""
    picked = adjacency.pick(rows)
    return picked.places * (len(adjacency.offsets) - 1) + picked.people
