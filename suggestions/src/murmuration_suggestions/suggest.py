"""Whom to suggest to whom. Pure: the one way from the graph to suggestions.

Rule: what is suggested to somebody depends on the graph, on the blend and on them alone.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass

import numpy as np

from murmuration_suggestions.adjacency import AT_ONCE, People
from murmuration_suggestions.blend import Blend, Weights
from murmuration_suggestions.graph import Graph
from murmuration_suggestions.pairs import Floats
from murmuration_suggestions.runs import Numbers, runs
from murmuration_suggestions.scores import Scored, scored


@dataclass(frozen=True)
class Chosen:
    """Suggestions: those of one person after the other, the best first."""

    owners: Numbers
    people: People
    scores: Floats
    counts: Numbers  # how many whom the owner follows follow them
    because_of: Numbers  # for each reason the place of the suggestion
    because: People  # and one of those who follow them


def suggest(graph: Graph, begin: int, end: int, blend: Blend) -> Iterator[Chosen]:
    """Choose for everybody in a range of people, some at a time, as much as fits into memory."""
    edges = work(graph, begin, end, blend.cap)
    start = begin
    while start < end:
        stop = start + max(int(np.searchsorted(np.cumsum(edges[start - begin :]), blend.work_at_once)), 1)
        yield _chosen(graph, np.arange(start, min(stop, end)), blend)
        start = stop


def work(graph: Graph, begin: int, end: int, cap: int, at_once: int = AT_ONCE) -> Numbers:
    """Return how many ways there are at most for each in a range of people, and as many steps of walks."""
    total = np.full(end - begin, 1_000)
    for first in (graph.following, graph.followers):
        for low, high in first.ranges(begin, end, at_once):
            offsets = first.offsets[low : high + 1] - first.offsets[low]
            people = first.people[first.offsets[low] : first.offsets[high]]
            onward = np.concatenate(([0], np.cumsum(np.minimum(graph.following.degree(people), cap))))
            total[low - begin : high - begin] += np.minimum(np.diff(onward[offsets]), cap * cap)
    return total


def blended(found: Scored, size: int, weights: Weights) -> Floats:
    """Return one score for each candidate: of each measure the best that an owner has is 1."""
    starts, lengths = runs(found.keys // size)
    total = np.zeros(len(found.keys))
    for name, weight in asdict(weights).items():
        values = found.measures[name]
        best = np.repeat(np.maximum.reduceat(values, starts), lengths) if len(values) else values
        total += weight * np.divide(values, best, out=np.zeros_like(values), where=best > 0)
    return total


def best(keys: Numbers, scores: Floats, size: int, most: int) -> Numbers:
    """Return where the best candidates of each owner are, the best first; of two as good the lower number first."""
    owners = zip(*runs(keys // size), strict=True)
    chosen = [start + _best(scores[start : start + length], most) for start, length in owners]
    return np.concatenate([np.zeros(0, np.int64), *chosen])


def _best(scores: Floats, most: int) -> Numbers:
    if len(scores) > most:
        least = np.partition(scores, -most)[-most]
        good = np.flatnonzero(scores >= least)
    else:
        good = np.arange(len(scores))
    return good[np.argsort(-scores[good], kind="stable")][:most]


def _chosen(graph: Graph, rows: Numbers, blend: Blend) -> Chosen:
    found = scored(graph, rows, blend)
    scores = blended(found, len(graph), blend.weights)
    places = best(found.keys, scores, len(graph), blend.most)
    keys = found.keys[places]
    counts, because_of, because = found.between.reasons(keys, blend.reasons)
    owners, people = np.divmod(keys, len(graph))
    return Chosen(rows[owners], people.astype(np.int32), scores[places], counts, because_of, because)
