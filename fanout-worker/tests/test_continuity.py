"""What Faust loses on the way is noticed before anything behind it is acknowledged."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fanout_worker.continuity import Continuity, SkippedError
from fanout_worker.streams import KafkaAwayError

PLACE = "TweetCreated", 7


@given(st.integers(0, 20), st.lists(st.tuples(st.integers(0, 9), st.integers(1, 5)), max_size=20), st.booleans())
def test_repeats_and_what_comes_next_pass_and_a_hole_never(start, batches, moved):
    """Each batch begins so much before the next offset, and ends so much behind it; then one comes that is too far."""
    stands = [start]
    continuity = Continuity(lambda: {PLACE: stands[0]}, lambda _: 0)
    for back, ahead in batches:
        for offset in range(stands[0] - back, stands[0] + ahead):
            continuity.check(PLACE, offset)
        stands[0] += ahead
    if moved:
        continuity.forget()
    with pytest.raises(SkippedError, match=f"{stands[0] + 1} came, and {stands[0]} should"):
        continuity.check(PLACE, stands[0] + 1)


def test_a_partition_that_comes_back_begins_where_others_left_it():
    """Not where we did."""
    stands = [0]
    continuity = Continuity(lambda: {PLACE: stands[0]}, lambda _: 0)
    continuity.check(PLACE, 0)
    continuity.check(PLACE, 1)
    stands[0] = 50
    continuity.forget()
    continuity.check(PLACE, 50)


def test_a_kafka_that_is_away_is_asked_again():
    """Where the group stands is no guess."""
    answers = iter([KafkaAwayError("away"), KafkaAwayError("away"), 3])
    slept = []

    def committed():
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return {PLACE: answer}

    Continuity(committed, lambda _: 0, slept.append).check(PLACE, 3)
    assert len(slept) == 2


def test_what_kafka_has_no_longer_is_not_owed():
    """Retention went past the group: that is no fault of Faust's."""
    continuity = Continuity(lambda: {PLACE: 3}, lambda _: 10)
    continuity.check(PLACE, 10)
    with pytest.raises(SkippedError, match="12 came, and 11"):
        continuity.check(PLACE, 12)
