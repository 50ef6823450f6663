"""The whole graph, as everything is computed from it. Pure: arrays, which may be files that are mapped into memory."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from murmuration_suggestions.adjacency import Adjacency
from murmuration_suggestions.draws import Bits
from murmuration_suggestions.pairs import Floats


@dataclass(frozen=True)
class Graph:
    """People are numbers from 0 on. All that is here has one entry, or one list, for each of them."""

    following: Adjacency
    followers: Adjacency
    unwanted: (
        Adjacency  # whom nobody may suggest to them, besides those whom they follow: asked, blocked, dismissed, ...
    )
    suggestible: NDArray[np.bool_]
    seeds: Bits  # of their walks
    ranks: Floats  # global PageRank

    def __len__(self) -> int:
        """Return how many people there are."""
        return len(self.suggestible)
