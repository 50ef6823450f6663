"""Which loads are tried, and what is the knee; on a system that carries so much and no more."""

import dataclasses

import pytest

from murmuration_testkit.knee.search import FACTOR, NARROW, Step, best, next_load, p99, quantile, too_high

GOOD = Step(
    load=100,
    reads=100,
    writes=1,
    deliveries=100,
    read_p50_ms=5,
    read_p99_ms=20,
    write_p99_ms=30,
    tweet_p99_s=0.3,
    follow_p99_s=0.2,
    failed=0,
    late_ms=1,
    cores={},
    lags={},
)
SLOW = {"read_p99_ms": 201}


def step(load, **differs):
    return dataclasses.replace(GOOD, load=load, **differs)


def raised(carries, first=100, pauses=()):
    """Try loads on a system that carries so much, and that pauses at the steps of these numbers."""
    tried = []
    while (load := next_load(tried, first)) is not None:
        tried.append(step(load, **(SLOW if load > carries or len(tried) in pauses else {})))
    return tried


def test_the_load_rises_until_it_is_too_high_and_the_knee_is_looked_for_below():
    """By half each time; then once between the last good load and the first that was bad twice."""
    tried = raised(carries=240)
    assert [round(each.load) for each in tried] == [100, 150, 225, 338, 338, 276, 276]
    assert best(tried).load == 225
    assert round(too_high(tried).load) == 276


@pytest.mark.parametrize("carries", [100, 149, 150, 183, 184, 500, 1234, 20_000])
def test_the_knee_is_at_most_a_quarter_below_what_is_carried(carries):
    tried = raised(carries)
    assert best(tried).load <= carries < too_high(tried).load < best(tried).load * NARROW
    assert NARROW < FACTOR


def test_a_single_bad_step_is_no_knee():
    """The machine paused; the same load is tried again, and is good."""
    tried = raised(carries=240, pauses={0, 2})
    assert best(tried).load == 225


def test_if_the_first_load_is_too_high_there_is_no_knee():
    tried = raised(carries=50)
    assert [each.load for each in tried] == [100, 100]
    assert best(tried) is None


@pytest.mark.parametrize(
    ("differs", "fault"),
    [
        ({"read_p99_ms": 200.5}, "p99 of reads"),
        ({"tweet_p99_s": 2.1}, "freshness of tweets"),
        ({"follow_p99_s": 2.1}, "freshness of follows"),
        ({"failed": 0.002}, "requests failed"),
    ],
)
def test_each_bound_makes_a_step_bad(differs, fault):
    (said,) = step(100, **differs).faults()
    assert fault in said
    assert not step(100, **differs).good


def test_at_its_bounds_a_step_is_good():
    assert step(100, read_p99_ms=200, tweet_p99_s=2, follow_p99_s=2, failed=0.001).good


def test_a_quantile_is_one_of_the_values():
    """The largest if they are few; nothing took no time."""
    assert p99(list(range(1000, 0, -1))) == 991
    assert p99([3.0, 1.0, 2.0]) == 3.0
    assert quantile([3.0, 1.0, 2.0], 0.5) == 2.0
    assert p99([]) == 0.0
