"""Whom a timeline shows, without Redis."""

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from murmuration_timelines.shown import WIDTH, Shown, digest

NAMES = [f"user-{n}" for n in range(300)]
SEEDS = st.integers(0, 2**32)


def some(chance):
    return set(chance.sample(NAMES, chance.randrange(200)))


@given(SEEDS)
def test_exactly_those_show_of_whom_it_was_made(seed):
    chance = Random(seed)
    users, asked = some(chance), some(chance)
    shown = Shown.of([*users, *users])
    assert {user for user in asked | users if user in shown} == users
    assert sorted(shown.among({digest(user): user for user in asked})) == sorted(users & asked)
    assert len(shown.digests) == WIDTH * len(users)


@given(SEEDS)
def test_the_order_in_which_they_came_does_not_matter(seed):
    users = some(Random(seed))
    assert Shown.of(users) == Shown.of(sorted(users))
    assert Shown.of(users).digests == Shown.of(sorted(users)).digests
