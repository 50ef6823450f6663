"""Until when topics are settled: the earliest of all partitions, and what is not known is not."""

from contextlib import nullcontext

import pytest

from murmuration_runtime.redis_settled import RedisSettled
from murmuration_runtime.settled import AHEAD_SECONDS, LATE_SECONDS, are_settled, field_of, settled_until
from murmuration_runtime.settled_mark import SettledMark

PARTITIONS = [(topic, number) for topic in ("one", "other") for number in range(3)]
ALL = {field_of(partition): "9" for partition in PARTITIONS}


@pytest.mark.parametrize("partition", PARTITIONS)
def test_the_earliest_of_all_counts_and_one_that_is_missing_says_nothing(partition):
    """Whichever it is."""
    assert settled_until(PARTITIONS, ALL) == 9
    assert settled_until(PARTITIONS, ALL | {field_of(partition): "7"}) == 7
    without = {field: until for field, until in ALL.items() if field != field_of(partition)}
    assert settled_until(PARTITIONS, without) == 0


def test_topics_are_settled_for_some_seconds_and_not_by_a_clock_that_is_ahead():
    """A time from the future would hide for as long how late they are."""
    now = 1_700_000_000.0
    ages = [0, LATE_SECONDS - 0.01, LATE_SECONDS, -AHEAD_SECONDS, -AHEAD_SECONDS - 0.01, now]
    assert [are_settled(now - age, now) for age in ages] == [True, True, False, True, False, False]


def test_a_mark_that_is_not_read_again_grows_old():
    """Nobody has to notice that Redis is away, or that the process stood still."""
    now = [100.0]
    mark = SettledMark(lambda: 99_000, lambda: now[0])
    assert not mark.is_fresh()
    mark.refresh()
    assert (mark.is_fresh(), mark.age()) == (True, 1.0)
    now[0] += LATE_SECONDS
    assert not mark.is_fresh()


def test_what_was_settled_outlives_an_outage_of_a_day():
    """Nobody can write it while DynamoDB is silent, and all that is warm rests on it meanwhile."""
    calls = []

    class Nodes:
        errors_named = staticmethod(nullcontext)

        def call(self, _, keys, arguments):
            calls.append((keys, arguments))

    RedisSettled(Nodes(), "settled", PARTITIONS).write({PARTITIONS[0]: 7})
    assert calls == [(["settled"], [86_400, field_of(PARTITIONS[0]), 7])]
