"""Whom a timeline shows, without Redis."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from murmuration_timelines.shown import FEW, WIDTH, Shown, digest

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


@pytest.mark.parametrize("count", [1, FEW - 1, FEW, FEW + 1, 3 * FEW])
def test_of_few_and_of_many_the_same_show(count):
    """They are looked for in two ways."""
    users = [f"member-{n}" for n in range(count)]
    shown = Shown.of(users)
    assert [user for user in [*users, *NAMES] if user in shown] == users


def test_nobody_shows_whose_digest_is_the_end_of_one_and_the_beginning_of_the_next():
    """Unless it also stands there by itself."""
    wanted = digest("user")
    before, behind = b"\0" * 3 + wanted[:3], wanted[3:] + b"\xff" * 3
    assert "user" not in Shown(before + behind)
    assert "user" in Shown(before + behind + wanted)
    assert "user" in Shown(wanted + before + behind)


@given(SEEDS)
def test_the_order_in_which_they_came_does_not_matter(seed):
    users = some(Random(seed))
    assert Shown.of(users) == Shown.of(sorted(users))
    assert Shown.of(users).digests == Shown.of(sorted(users)).digests
