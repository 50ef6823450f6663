"""Whom anybody is suggested: never whom they must not be, whoever is computed with whom, and for true reasons."""

import tracemalloc
from collections import defaultdict
from dataclasses import fields, replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from murmuration_suggestions import scores
from murmuration_suggestions.adjacency import Adjacency
from murmuration_suggestions.suggest import Chosen, suggest, work
from murmuration_suggestions.walks import walk

from .conftest import world, worlds


def of_all(graph, blend, cuts=()):
    """Return everything that is chosen when the people are computed in these ranges."""
    ends = [0, *sorted({*cuts}), len(graph)]
    parts = [part for begin, end in pairwise(ends) for part in suggest(graph, begin, end, blend)]
    offsets = np.cumsum([0, *(len(part.people) for part in parts)])
    parts = [replace(part, because_of=part.because_of + offset) for part, offset in zip(parts, offsets, strict=False)]
    return Chosen(*(np.concatenate([getattr(part, each.name) for part in parts]) for each in fields(Chosen)))


def lists(chosen):
    """Return whom each owner is shown, in order."""
    shown = defaultdict(list)
    for owner, person in zip(chosen.owners.tolist(), chosen.people.tolist(), strict=True):
        shown[owner].append(person)
    return shown


def same(one, other):
    return all(np.array_equal(getattr(one, each.name), getattr(other, each.name)) for each in fields(Chosen))


@settings(deadline=None)
@given(worlds())
def test_nobody_is_shown_whom_they_must_not_be(ours, drawn):
    """Not themselves, nobody they follow, nobody unwanted, nobody who does not want to be found; nobody twice."""
    size, edges, unwanted, hidden = drawn
    for owner, shown in lists(of_all(world(size, edges, unwanted=unwanted, hidden=hidden), ours)).items():
        assert owner not in shown
        assert not {(owner, person) for person in shown} & {*edges, *unwanted}
        assert not {*shown} & hidden
        assert len({*shown}) == len(shown)


@settings(deadline=None)
@given(worlds())
def test_whoever_is_two_steps_away_is_shown(ours, drawn):
    """While there is room, nobody is left out who is followed by a followee, or has a follower in common."""
    size, edges, *_ = drawn
    follows, shown = {*edges}, lists(of_all(world(size, edges), ours))
    for one in range(size):
        onward = {c for a, b in follows if a == one for b2, c in follows if b2 == b}
        shared = {c for a, b in follows if b == one for a2, c in follows if a2 == a}
        near = {person for person in onward | shared if person != one and (one, person) not in follows}
        assert near <= {*shown[one]}


@settings(deadline=None)
@given(worlds())
def test_each_reason_is_true(ours, drawn):
    """The count is how many whom the owner follows follow them; the named ones are among these."""
    size, edges, *_ = drawn
    follows, chosen = {*edges}, of_all(world(size, edges), ours)
    named = defaultdict(list)
    for place, person in zip(chosen.because_of.tolist(), chosen.because.tolist(), strict=True):
        named[place].append(person)
    for place, (owner, person, count) in enumerate(
        zip(chosen.owners.tolist(), chosen.people.tolist(), chosen.counts.tolist(), strict=True)
    ):
        between = {each for each in range(size) if {(owner, each), (each, person)} <= follows}
        assert count == len(between)
        assert len({*named[place]}) == len(named[place]) == min(count, ours.reasons)
        assert {*named[place]} <= between


@settings(deadline=None)
@given(worlds(), st.sets(st.integers(1, 11)), st.integers(1, 3_000))
def test_who_is_computed_with_whom_changes_nothing(ours, drawn, cuts, at_once):
    """Any ranges, any amount of work at once: the same to the last bit."""
    size, edges, unwanted, hidden = drawn
    graph = world(size, edges, unwanted=unwanted, hidden=hidden)
    whole = of_all(graph, ours)
    assert same(whole, of_all(graph, replace(ours, work_at_once=at_once), {cut for cut in cuts if cut < size}))


@settings(deadline=None)
@given(worlds(), st.integers(1, 4))
def test_the_best_are_chosen_in_order(ours, drawn, most):
    """With less room the first of the same list are shown, best first."""
    size, edges, *_ = drawn
    graph = world(size, edges)
    long, short = of_all(graph, ours), of_all(graph, replace(ours, most=most))
    assert lists(short) == {owner: shown[:most] for owner, shown in lists(long).items()}
    same_owner = long.owners[1:] == long.owners[:-1]
    assert (long.scores[1:] <= long.scores[:-1])[same_owner].all()


def test_who_counts_in_two_steps_is_capped(ours):
    """One account with half of all edges costs each of its followers no more than the cap, and itself its square."""
    size = 5_000
    fans = [(fan, 0) for fan in range(1, size)]
    busy = [(0, person) for person in range(1, 2_000)]
    graph = world(size, fans + busy)
    blend = replace(ours, cap=50)
    assert work(graph, 0, size, blend.cap).max() <= 2 * 50 * 50 + 1_000
    assert len(of_all(graph, blend).owners) > 0


@settings(deadline=None)
@given(worlds(), st.integers(1, 5), st.integers(1, 9), st.data())
def test_work_is_counted_in_any_ranges(drawn, cap, at_once, data):
    """It is what each has before them: whom those follow whom they follow, or by whom they are followed."""
    size, edges, *_ = drawn
    graph, follows = world(size, edges), {*edges}
    out = [sum(a == person for a, _ in follows) for person in range(size)]
    ahead = [sum(min(out[b], cap) for a, b in follows if a == person) for person in range(size)]
    behind = [sum(min(out[a], cap) for a, b in follows if b == person) for person in range(size)]
    begin, end = sorted(data.draw(st.tuples(st.integers(0, size), st.integers(0, size))))
    expected = [1_000 + min(a, cap * cap) + min(b, cap * cap) for a, b in zip(ahead, behind, strict=True)]
    assert work(graph, begin, end, cap, at_once).tolist() == expected[begin:end]


def test_work_is_counted_in_little_memory(ours):
    """A graph has more edges than a machine has memory for eight bytes of each."""
    size, each = 2_000, 500
    people = np.random.default_rng(3).integers(0, size, size * each, dtype=np.int32)
    neighbours = Adjacency(np.arange(size + 1) * each, people)
    graph = replace(world(size, []), following=neighbours, followers=neighbours)
    tracemalloc.start()
    work(graph, 0, size, ours.cap, at_once=10_000)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < len(people)


@pytest.mark.parametrize("cap", [20, 60])
def test_what_is_sampled_is_right_on_average(cap):
    """Jaccard of a celebrity, over a sample of their followers, is near the exact one; over all it is exact."""
    random = np.random.default_rng(5)
    size = 2_000
    edges = [(fan, 0) for fan in range(1, 1_000)] + [(fan, 1) for fan in range(1, 1_000) if random.random() < 0.5]
    graph = world(size, edges)
    exact, sampled = (scores.jaccard(graph, np.array([0]), most).at(np.array([1]))[0] for most in (1_000, cap))
    assert exact == pytest.approx(0.5, abs=0.05)
    assert sampled == pytest.approx(exact, abs=4 * (0.25 / cap) ** 0.5)
    assert sampled != exact


def test_walks_stop_when_enough_is_known(ours):
    """Who keeps coming by the same people walks less far; who does not walks all rounds."""
    circle = [(0, 1), (1, 2), (2, 0)]
    graph = world(3, circle)
    plan = replace(ours.walks, enough_people=2, enough_visits=3)
    patient = replace(plan, enough_people=4)
    short, long = (walk(graph.following, np.arange(3), graph.seeds, each).totals for each in (plan, patient))
    assert (short * 3 < long).all()
