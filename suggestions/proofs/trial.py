"""A tenth of all follows hidden, and how well each way of suggesting finds them again."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from murmuration_suggestions.adjacency import Adjacency
from murmuration_suggestions.blend import Blend, Weights
from murmuration_suggestions.draws import mixed
from murmuration_suggestions.global_rank import page_rank
from murmuration_suggestions.graph import Graph
from murmuration_suggestions.pairs import Floats, is_among
from murmuration_suggestions.scores import Scored, may_be_shown, scored
from murmuration_suggestions.suggest import best, blended

from .shapes import Edges

HIDDEN = 0.1
ASKED = 1_500  # of those with hidden follows, so many are asked
TOP = 20
RIVALS = ("popularity", "common neighbours", "Adamic-Adar", "random")


@dataclass(frozen=True)
class Found:
    """Of each who was asked: the share of hidden follows among the first 20, and 1 / the rank of the first of them."""

    recall: Floats
    reciprocal: Floats


@dataclass(frozen=True)
class Trial:
    """What is left of a graph, what was hidden, and the candidates of those who are asked."""

    graph: Graph
    asked: NDArray[np.int64]
    hidden: NDArray[np.int64]  # as pairs, ascending
    candidates: Scored
    most: int

    @classmethod
    def of(cls, edges: Edges, seed: int, blend: Blend) -> "Trial":
        """Hide some of the edges and compute the rest."""
        random = np.random.default_rng([seed, 1])
        size = int(edges.max()) + 1
        away = random.random(len(edges)) < HIDDEN
        followees, left = edges[~away].T[::-1]
        following, followers = Adjacency.of(left, followees, size), Adjacency.of(followees, left, size)
        nobody = Adjacency.of(np.zeros(0, np.int64), np.zeros(0, np.int64), size)
        seeds = mixed(np.arange(size, dtype=np.uint64) + np.uint64(seed << 32))
        ranks = page_rank(following, followers)
        graph = Graph(following, followers, nobody, np.ones(size, bool), seeds, ranks)
        who = np.unique(edges[away, 0])
        asked = np.sort(random.permutation(who)[:ASKED])
        rows, people = edges[away].T
        of_asked = np.isin(rows, asked)
        hidden = np.sort(np.searchsorted(asked, rows[of_asked]) * size + people[of_asked])
        return cls(graph, asked, hidden, scored(graph, asked, blend), blend.most)

    def blend(self, weights: Weights) -> Found:
        """Suggest by a blend."""
        return self._found(self.candidates.keys, blended(self.candidates, len(self.graph), weights))

    def rivals(self) -> Mapping[str, Callable[[], Found]]:
        """Return the ways to compare with."""
        between, keys = self.candidates.between, self.candidates.keys
        common = replace(between, counts=between.counts)
        counts = common.reasons(keys, 0)[0].astype(float)
        random = np.random.default_rng(7)
        everybody = np.arange(len(self.asked) * len(self.graph))
        everybody = everybody[may_be_shown(self.graph, self.asked, everybody)]
        popular = self.graph.followers.degrees[everybody % len(self.graph)].astype(float)
        return {
            "popularity": lambda: self._found(everybody, popular),
            "common neighbours": lambda: self._found(keys, counts),
            "Adamic-Adar": lambda: self._found(keys, self.candidates.measures["adamic_adar"]),
            "random": lambda: self._found(everybody, random.random(len(everybody))),
        }

    def _found(self, keys: NDArray[np.int64], scores: Floats) -> Found:
        size = len(self.graph)
        shown = keys[best(keys, scores, size, self.most)]
        owners = shown // size
        rank = np.arange(len(shown)) - np.searchsorted(owners, owners)
        hit = is_among(shown, self.hidden)
        of_each = np.bincount(self.hidden // size, minlength=len(self.asked))
        in_top = np.bincount(owners[hit & (rank < TOP)], minlength=len(self.asked))
        reciprocal = np.zeros(len(self.asked))
        np.maximum.at(reciprocal, owners[hit], 1 / (rank[hit] + 1))
        return Found(in_top / of_each, reciprocal)
