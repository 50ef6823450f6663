"""How much speaks for each candidate, by each measure. Pure.

Adamic-Adar: everybody between counts with 1/ln of how many they are connected with, by the longer of their two lists.
On a graph in which all follow each other back this is the usual definition.
Jaccard: who follows both, as a share of who follows either. Measured over samples where lists are capped.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from murmuration_suggestions.adjacency import People
from murmuration_suggestions.blend import Blend
from murmuration_suggestions.graph import Graph
from murmuration_suggestions.pairs import Floats, Pairs, each_once, is_among, listed
from murmuration_suggestions.paths import Paths, two_steps
from murmuration_suggestions.runs import Numbers
from murmuration_suggestions.walks import walk


@dataclass(frozen=True)
class Scored:
    """The candidates of some people, as pairs, and of each one number for each measure; and who stands between."""

    keys: Numbers
    measures: dict[str, Floats]
    between: Paths


def adamic_adar_worth(graph: Graph, people: People) -> Floats:
    """Return what each of these people is worth as somebody between."""
    return 1 / np.log(np.maximum(np.maximum(graph.following.degree(people), graph.followers.degree(people)), 2))


def adamic_adar(graph: Graph, rows: Numbers, cap: int) -> tuple[Pairs, Paths]:
    """Score everybody whom somebody follows whom they follow."""

    def worth(people: People) -> Floats:
        return adamic_adar_worth(graph, people)

    paths, weights = two_steps(graph.following, graph.following, rows, cap, worth)
    return paths.sums(weights * worth(paths.between)), paths


def jaccard(graph: Graph, rows: Numbers, cap: int) -> Pairs:
    """Score everybody who has a follower in common with them."""
    paths, weights = two_steps(graph.followers, graph.following, rows, cap, lambda people: np.zeros(len(people)))
    common = paths.sums(weights)
    places, people = np.divmod(common.keys, len(graph))
    either = graph.followers.degree(rows[places]) + graph.followers.degree(people) - common.values
    return Pairs(common.keys, np.minimum(common.values / np.maximum(either, 1), 1.0))


def scored(graph: Graph, rows: Numbers, blend: Blend) -> Scored:
    """Find the candidates of these people and score them."""
    adamic, between = adamic_adar(graph, rows, blend.cap)
    shared = jaccard(graph, rows, blend.cap)
    personal = walk(graph.following, rows, graph.seeds[rows], blend.walks).ranks(len(graph))
    keys = each_once(adamic.keys, shared.keys, personal.keys)
    keys = keys[may_be_shown(graph, rows, keys)]
    measures = {
        "adamic_adar": adamic.at(keys),
        "jaccard": shared.at(keys),
        "personal_rank": personal.at(keys),
        "global_rank": graph.ranks[keys % len(graph)],
    }
    return Scored(keys, measures, between)


def may_be_shown(graph: Graph, rows: Numbers, keys: Numbers) -> NDArray[np.bool_]:
    """Tell which candidates may be suggested to these people."""
    places, people = np.divmod(keys, len(graph))
    shown: NDArray[np.bool_] = (
        graph.suggestible[people]
        & (rows[places] != people)
        & ~is_among(keys, listed(graph.following, rows))
        & ~is_among(keys, listed(graph.unwanted, rows))
    )
    return shown
