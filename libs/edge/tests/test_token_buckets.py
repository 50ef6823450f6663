"""Buckets against their definition: a call is let through if there are tokens for it, and takes them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from murmuration_edge.token_buckets import Bucket, Budget

budgets = st.builds(
    Budget, st.just("calls"), st.integers(1, 10_000), st.sampled_from([1, 60, 86_400]), st.integers(1, 1_000)
)
calls = st.lists(st.tuples(st.floats(0, 5_000), st.integers(1, 5)), max_size=60)


@given(budgets, calls)
def test_nobody_gets_more_than_the_burst_and_what_has_flowed_in_since(budget, calls):
    """In whichever stretch of time one looks."""
    bucket, now, got = Bucket(), 1_000.0, []
    for pause, cost in calls:
        now += pause
        if bucket.wait(budget, cost, now) <= 0:
            bucket.spend(budget, cost, now)
            got.append((now, min(cost, budget.burst)))
    for first in range(len(got)):
        taken = 0
        for at, cost in got[first:]:
            taken += cost
            assert taken <= budget.burst + (at - got[first][0]) * budget.rate + 1e-3


@given(budgets, calls, st.integers(1, 5))
def test_who_is_refused_is_let_through_after_the_wait_and_not_before(budget, calls, cost):
    """Retry-After is neither a lie nor longer than it must be."""
    bucket, now = Bucket(), 1_000.0
    for pause, each in calls:
        now += pause / 100
        if bucket.wait(budget, each, now) <= 0:
            bucket.spend(budget, each, now)
    if (wait := bucket.wait(budget, cost, now)) > 0:
        assert bucket.wait(budget, cost, now + wait + 1e-6) <= 0
        assert bucket.wait(budget, cost, now + wait - 1e-3 * wait - 1e-5) > 0


@given(budgets, st.integers(0, 1_000), st.floats(0, 100))
def test_what_is_left_is_what_can_be_spent_one_by_one(budget, spent, later):
    """And full is the burst."""
    bucket = Bucket()
    for _ in range(min(spent, budget.burst)):
        bucket.spend(budget, 1, 1_000.0)
    left, now = bucket.left(budget, 1_000.0 + later), 1_000.0 + later
    assert 0 <= left <= budget.burst
    for _ in range(left):
        assert bucket.wait(budget, 1, now) <= 1e-6 / budget.rate
        bucket.spend(budget, 1, now)
    assert bucket.wait(budget, 1, now) > 0


def test_what_others_spent_counts_and_what_was_spent_since_is_added():
    """An answer says how the shared bucket stood when this process was told of so many tokens."""
    budget, bucket = Budget("calls", 60, 60, 100), Bucket()
    for _ in range(7):
        bucket.spend(budget, 1, 1_000.0)
    bucket.settle(budget, 5, 40.0, 1_000.0)
    assert bucket.owed == 2
    assert bucket.left(budget, 1_000.0) == 100 - 40 - 2


@pytest.mark.parametrize(("burst", "batch"), [(1, 1), (9, 1), (50, 5), (300, 30)])
def test_a_batch_is_a_tenth_of_the_burst(burst, batch):
    """So much may each process spend before the others know."""
    assert Budget("calls", 1, 1, burst).batch == batch
