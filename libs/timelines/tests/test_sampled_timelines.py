"""Whose timelines are chosen: anybody's, with the same chance."""

import random
from collections import Counter

import pytest

from murmuration_timelines.merge import Timeline
from murmuration_timelines.sampled_timelines import Owner, sample
from murmuration_timelines.shown import Shown

from .conftest import REAL


def warm(timelines, user):
    assert timelines.commit(user, timelines.begin(user), Timeline([], "0", Shown.of([user])))


@pytest.mark.parametrize("kind", ["fake", *REAL], indirect=True)
def test_all_are_found_and_of_which_kind_they_are(nodes, reader, somebody):
    """On every node; what is no timeline is passed over."""
    reads, says = somebody(), somebody()
    warm(reader.home, reads)
    warm(reader.authors, says)
    nodes.command("SET", f"tweet:{{{somebody()}}}", "a body")
    found = sample(nodes, 1_000_000, random.Random(1))
    assert {Owner(reads), Owner(says, is_author=True)} <= {*found}
    assert {Owner(says), Owner(reads, is_author=True)}.isdisjoint(found)


@pytest.mark.parametrize("kind", ["fake"], indirect=True)
def test_each_has_the_same_chance(nodes, reader):
    """So many are chosen, nobody twice."""
    users = [f"user-{n}" for n in range(20)]
    for user in users:
        warm(reader.home, user)
    chance, often = random.Random(7), Counter()
    for _ in range(2_000):
        chosen = sample(nodes, 5, chance)
        assert len({*chosen}) == 5
        often.update(owner.user_id for owner in chosen)
    assert often.keys() == {*users}
    assert all(400 < count < 600 for count in often.values())
