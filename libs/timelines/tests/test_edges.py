"""Until when edges are settled: the earliest of all partitions, and what is not known is not."""

import pytest

from contracts import TOPICS
from murmuration_timelines.edges import AHEAD_SECONDS, LATE_SECONDS, PARTITIONS, are_settled, field_of, settled_until

ALL = {field_of(partition): "9" for partition in PARTITIONS}


def test_the_partitions_are_those_of_the_topics_that_change_whom_a_timeline_shows():
    """Each of them: a partition that nobody asks about could hide an unfollow."""
    assert len(PARTITIONS) == sum(TOPICS[topic].partitions for topic in ("FollowChanged", "MuteChanged"))


@pytest.mark.parametrize("partition", sorted(PARTITIONS))
def test_the_earliest_of_all_counts_and_one_that_is_missing_says_nothing(partition):
    """Whichever it is."""
    assert settled_until(ALL) == 9
    assert settled_until(ALL | {field_of(partition): "7"}) == 7
    assert settled_until({field: until for field, until in ALL.items() if field != field_of(partition)}) == 0


def test_edges_are_settled_for_some_seconds_and_not_by_a_clock_that_is_ahead():
    """A time from the future would hide for as long how late they are."""
    now = 1_700_000_000.0
    ages = [0, LATE_SECONDS - 0.01, LATE_SECONDS, -AHEAD_SECONDS, -AHEAD_SECONDS - 0.01, now]
    assert [are_settled(now - age, now) for age in ages] == [True, True, False, True, False, False]
