"""Small worlds for tests."""

import numpy as np
import pytest
from hypothesis import strategies as st

from murmuration_suggestions.adjacency import Adjacency
from murmuration_suggestions.blend import blend
from murmuration_suggestions.draws import mixed
from murmuration_suggestions.global_rank import page_rank
from murmuration_suggestions.graph import Graph


def world(size, edges, *, unwanted=(), hidden=()):
    """Return a graph: so many people, who follows whom, whom not to suggest to whom, who is not suggested at all."""
    following = adjacency(edges, size)
    followers = adjacency([pair[::-1] for pair in edges], size)
    suggestible = np.ones(size, bool)
    suggestible[list(hidden)] = False
    seeds = mixed(np.arange(size, dtype=np.uint64))
    return Graph(following, followers, adjacency(unwanted, size), suggestible, seeds, page_rank(following, followers))


def adjacency(pairs, size):
    rows, people = np.array([*pairs], np.int64).reshape(-1, 2).T
    return Adjacency.of(rows, people, size)


@st.composite
def worlds(draw, most=12):
    """Draw people, whom they follow, and what stands against suggesting some of them to some."""
    size = draw(st.integers(1, most))
    people = st.integers(0, size - 1)
    pairs = st.lists(st.tuples(people, people).filter(lambda pair: pair[0] != pair[1]), max_size=4 * size)
    return size, draw(pairs), draw(pairs), draw(st.sets(people))


@pytest.fixture(scope="session")
def ours():
    """What blend.yaml says."""
    return blend()
