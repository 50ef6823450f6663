"""Our measures are those of the textbook: compared with igraph's, which share no line with ours."""

import itertools
import math
from collections import Counter

import igraph
import numpy as np
import pytest
from hypothesis import given, settings

from murmuration_suggestions import scores
from murmuration_suggestions.global_rank import page_rank
from murmuration_suggestions.walks import Plan, walk

from .conftest import world, worlds

CAP = 1_000


def crowd(size=120, edges=900, seed=7):
    """Draw a directed graph, some of which nobody leaves and some of which nobody enters."""
    random = np.random.default_rng(seed)
    pairs = {(int(a), int(b)) for a, b in random.integers(0, size, (edges, 2)) if a != b and a % 10}
    return size, sorted(pairs)


def as_igraph(size, edges):
    return igraph.Graph(n=size, edges=sorted({*edges}), directed=True)


def of_everybody(graph, measure):
    """Return a measure as a matrix: of whom, for whom."""
    values = np.zeros((len(graph), len(graph)))
    places, people = np.divmod(measure.keys, len(graph))
    values[places, people] = measure.values
    return values


@settings(deadline=None)
@given(worlds())
def test_jaccard_is_exact(drawn):
    """Followers in common, as a share of all followers of either."""
    size, edges, *_ = drawn
    ours = of_everybody(graph := world(size, edges), scores.jaccard(graph, np.arange(size), CAP))
    theirs = np.array(as_igraph(size, edges).similarity_jaccard(mode="in", loops=False))
    np.fill_diagonal(theirs, np.diag(ours))  # igraph says 1 of oneself, whom we never suggest
    np.testing.assert_array_equal(ours, theirs)


@settings(deadline=None)
@given(worlds())
def test_jaccard_is_symmetric(drawn):
    """It is the same from either side, to the last bit."""
    size, edges, *_ = drawn
    ours = of_everybody(graph := world(size, edges), scores.jaccard(graph, np.arange(size), CAP))
    np.testing.assert_array_equal(ours, ours.T)


@settings(deadline=None)
@given(worlds())
def test_adamic_adar_is_exact_where_all_follow_each_other(drawn):
    """There it is what the textbook defines; elsewhere there is no one definition."""
    size, edges, *_ = drawn
    both = [*edges, *(pair[::-1] for pair in edges)]
    graph = world(size, both)
    ours = of_everybody(graph, scores.adamic_adar(graph, np.arange(size), CAP)[0])
    undirected = igraph.Graph(n=size, edges=sorted({tuple(sorted(pair)) for pair in edges}))
    theirs = np.array(undirected.similarity_inverse_log_weighted())
    np.fill_diagonal(theirs, np.diag(ours))
    np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(ours, ours.T, rtol=1e-12)


@settings(deadline=None)
@given(worlds())
def test_adamic_adar_adds_up_who_stands_between(drawn):
    """Everybody whom one follows and who follows the other, by 1/ln of the longer of their lists."""
    size, edges, *_ = drawn
    graph, follows = world(size, edges), {*edges}
    ours = of_everybody(graph, scores.adamic_adar(graph, np.arange(size), CAP)[0])
    followees, followers = (Counter(pair[end] for pair in follows) for end in (0, 1))
    worth = [1 / math.log(max(2, followees[person], followers[person])) for person in range(size)]
    for one, other in itertools.product(range(size), repeat=2):
        between = [person for person in range(size) if {(one, person), (person, other)} <= follows]
        assert ours[one, other] == pytest.approx(sum(worth[person] for person in between), rel=1e-12)


@settings(deadline=None)
@given(worlds(30))
def test_page_rank_is_within_a_millionth(drawn):
    """Of everybody, sinks and hermits too."""
    size, edges, *_ = drawn
    theirs = as_igraph(size, edges).pagerank(damping=0.85)
    graph = world(size, edges)
    np.testing.assert_allclose(page_rank(graph.following, graph.followers), theirs, rtol=0, atol=1e-6)


def test_page_rank_of_a_crowd_is_within_a_millionth():
    """Of a graph in which it takes its time."""
    size, edges = crowd()
    graph = world(size, edges)
    ours = page_rank(graph.following, graph.followers)
    np.testing.assert_allclose(ours, as_igraph(size, edges).pagerank(damping=0.85), rtol=0, atol=1e-6)
    assert ours.sum() == pytest.approx(1)


@pytest.mark.parametrize("owner", [1, 11, 64])
def test_walks_are_within_their_confidence_of_personalised_page_rank(owner):
    """Of 119 ranks none is further from igraph's than five standard errors, and 95 % are within two."""
    size, edges = crowd()
    graph = world(size, edges)
    walks = 20_000
    plan = Plan(restart=0.15, walks_a_round=walks, rounds=1, enough_people=size, enough_visits=1)
    ours = of_everybody(graph, walk(graph.following, np.array([owner]), graph.seeds[[owner]], plan).ranks(size))[0]
    sinks = [(person, owner) for person in range(size) if not any(a == person for a, _ in edges)]
    reset = [float(person == owner) for person in range(size)]
    theirs = np.array(as_igraph(size, [*edges, *sinks]).personalized_pagerank(damping=0.85, reset=reset))
    others = np.arange(size) != owner
    errors = np.sqrt(theirs * 1.7 / walks)[others]  # visits of one walk vary a little more than independent ones would
    off = np.abs(ours - theirs)[others]
    assert (off <= 5 * errors).all()
    assert (off <= 2 * errors).mean() >= 0.95
    assert off.max() > 0
