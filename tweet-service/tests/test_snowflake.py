"""Ids, whatever the clock does."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tweet_service.snowflake import EPOCH_MS, WORKERS, Snowflakes

NOW = 1_700_000_000_000


@given(st.lists(st.integers(-5_000, 5_000), max_size=200), st.integers(0, WORKERS - 1))
def test_ids_only_grow_even_when_the_clock_steps_back(steps, worker):
    """String order, integer order and the order of making agree, and nothing repeats."""
    times = iter([NOW + step for step in steps])
    ids = Snowflakes(worker, lambda: next(times))
    made = [ids.next()[0] for _ in steps]
    assert made == sorted(set(made))
    assert [int(i) for i in made] == sorted({int(i) for i in made})
    assert {len(i) for i in made} <= {19}


def test_more_ids_than_fit_in_a_millisecond_borrow_from_the_next():
    """A burst goes on in later milliseconds instead of repeating."""
    ids = Snowflakes(0, lambda: NOW)
    made = {ids.next()[0] for _ in range(10_000)}
    assert len(made) == 10_000
    assert ids.next()[1] == NOW + 2


@given(st.integers(EPOCH_MS, 2**41), st.integers(0, WORKERS - 1))
def test_an_id_tells_its_time_and_worker(now, worker):
    """The parts are where every reader of snowflakes looks for them."""
    tweet_id, created_at = Snowflakes(worker, lambda: now).next()
    assert created_at == now
    assert (int(tweet_id) >> 22) + EPOCH_MS == now
    assert int(tweet_id) >> 12 & (WORKERS - 1) == worker


def test_a_worker_id_that_does_not_fit_is_refused():
    """Its bits would run into the time's."""
    with pytest.raises(ValueError, match="1023"):
        Snowflakes(WORKERS, lambda: NOW)
