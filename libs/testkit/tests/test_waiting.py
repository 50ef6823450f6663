"""What tests wait by."""

import itertools

import pytest

from murmuration_testkit.waiting import eventually, remaining, steadily


def test_a_wait_returns_what_it_waited_for():
    """Anything true, or exactly what is expected."""
    assert eventually(iter([0, [], "", "here"]).__next__, every=0) == "here"
    assert eventually(itertools.count().__next__, 3, every=0) == 3
    assert eventually(iter([True, False]).__next__, expected=False, every=0) is False


def test_a_wait_that_is_over_says_what_came_last():
    """And what was expected, where that was named."""
    with pytest.raises(AssertionError, match=r"after 0 s still 'nothing', not 'something'"):
        eventually(lambda: "nothing", "something", within=0)
    with pytest.raises(AssertionError, match=r"after 0 s still \[\]"):
        eventually(list, within=0)


def test_whatever_does_not_stay_is_noticed():
    """The moment it is seen."""
    with pytest.raises(AssertionError, match="2, not 1"):
        steadily(iter([1, 1, 2, 1]).__next__, 1, during=30, every=0)
    steadily(lambda: 1, 1, during=0)


def test_differences_are_those_of_the_last_look():
    """None when they went away in time."""
    assert remaining(iter([["one", "two"], ["one"], []]).__next__, within=30, every=0) == []
    assert remaining(lambda: ["one"], within=0) == ["one"]
