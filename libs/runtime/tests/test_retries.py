"""Pauses and paces, on a clock of the test's own."""

from itertools import islice

from murmuration_runtime.retries import Pace, pauses


def test_pauses_double_up_to_the_longest():
    """And never end."""
    assert list(islice(pauses(0.5, 3), 5)) == [0.5, 1, 2, 3, 3]


def test_pauses_are_shorter_by_chance_and_by_half_at_most():
    """Those who failed together do not try again together."""
    drawn = iter([0, 0.5, 1])
    assert list(islice(pauses(0.5, 3, lambda: next(drawn)), 3)) == [0.25, 0.75, 2]


def test_a_pace_spreads_steps_evenly():
    """Whoever is early waits; whoever is late does not make up for it in a burst."""
    now, slept = [0.0], []

    def sleep(seconds):
        slept.append(seconds)
        now[0] += seconds

    pace = Pace(4, clock=lambda: now[0], sleep=sleep)
    for _ in range(3):
        pace.wait()
    assert slept == [0.25, 0.25]
    now[0] += 10
    for _ in range(2):
        pace.wait()
    assert slept == [0.25, 0.25, 0.25]
