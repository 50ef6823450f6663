"""Ids, whatever the clock does and whoever holds the worker number."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.ids import EPOCH_MS
from tweet_service.snowflake import WORKERS, NoWorkerIdError, Reservation, Snowflakes

NOW = 1_700_000_000_000
workers = st.integers(0, WORKERS - 1)


def snowflakes(now, worker=0, start=0, until=2**42):
    ids = Snowflakes(now)
    ids.reserve(Reservation(worker, start, until))
    return ids


@given(st.lists(st.integers(-5_000, 5_000), max_size=200), workers)
def test_ids_only_grow_even_when_the_clock_steps_back(steps, worker):
    """String order, integer order and the order of making agree, and nothing repeats."""
    times = iter([NOW + step for step in steps])
    ids = snowflakes(lambda: next(times), worker)
    made = [ids.next()[0] for _ in steps]
    assert made == sorted(set(made))
    assert [int(i) for i in made] == sorted({int(i) for i in made})
    assert {len(i) for i in made} <= {19}


def test_more_ids_than_fit_in_a_millisecond_borrow_from_the_next():
    """A burst goes on in later milliseconds instead of repeating."""
    ids = snowflakes(lambda: NOW)
    made = {ids.next()[0] for _ in range(10_000)}
    assert len(made) == 10_000
    assert ids.next()[1] == NOW + 2


@given(st.integers(EPOCH_MS, 2**41), workers)
def test_an_id_tells_its_time_and_worker(now, worker):
    """The parts are where every reader of snowflakes looks for them."""
    tweet_id, created_at = snowflakes(lambda: now, worker).next()
    assert created_at == now
    assert (int(tweet_id) >> 22) + EPOCH_MS == now
    assert int(tweet_id) >> 12 & (WORKERS - 1) == worker


@given(
    st.lists(st.tuples(st.integers(-60_000, 60_000), st.integers(0, 5_000)), min_size=1, max_size=8), st.integers(1, 99)
)
def test_whoever_holds_a_number_next_begins_where_the_span_ended(holders, span):
    """Each with a clock of its own, wrong by up to a minute: no id twice, and none below an earlier one."""
    made, start = [], NOW
    for error, count in holders:
        ids = snowflakes(lambda error=error: NOW + error, start=start, until=start + span)
        with suppress(NoWorkerIdError):  # its clock is beyond the span, or the span is full
            made.extend(int(ids.next()[0]) for _ in range(count))
        start += span
    assert made == sorted(set(made))


@given(st.lists(st.tuples(workers, st.integers(-60_000, 60_000), st.integers(0, 20)), max_size=20))
def test_a_processs_ids_only_grow_whatever_numbers_it_holds_in_turn(held):
    """A number that was lost is followed by another, maybe a lower one, maybe at the same millisecond."""
    clock = [NOW]
    ids = Snowflakes(lambda: clock[0])
    made = []
    for worker, start, count in held:
        ids.reserve(Reservation(worker, NOW + start, NOW + 120_000))
        made += [int(ids.next()[0]) for _ in range(count)]
    assert made == sorted(set(made))


def test_nothing_is_made_beyond_what_is_reserved():
    """A process that could not renew stops, before somebody else begins there."""
    ids = snowflakes(lambda: NOW, until=NOW + 1)
    for _ in range(4_096):
        ids.next()
    with pytest.raises(NoWorkerIdError):
        ids.next()
    ids.reserve(Reservation(0, NOW + 1, NOW + 2))
    assert ids.next()[1] == NOW + 1


def test_a_span_that_is_renewed_leaves_ids_in_the_present():
    """More time ahead is no reason to make ids of it now."""
    ids = snowflakes(lambda: NOW, until=NOW + 10)
    ids.next()
    ids.reserve(Reservation(0, 0, NOW + 30_000))
    assert ids.next()[1] == NOW


def test_nothing_is_made_before_anything_is_reserved():
    """A process that just began has no number yet, and says so."""
    ids = Snowflakes(lambda: NOW)
    with pytest.raises(NoWorkerIdError):
        ids.next()
