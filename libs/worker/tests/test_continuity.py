"""What Faust loses on the way is noticed before anything behind it is acknowledged."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from murmuration_runtime.kafka import KafkaAwayError
from murmuration_worker.continuity import Continuity, SkippedError

HERE, THERE = ("TweetCreated", 7), ("FollowChanged", 7)


@given(st.integers(0, 20), st.lists(st.tuples(st.integers(0, 9), st.integers(1, 5)), max_size=20), st.booleans())
def test_repeats_and_what_comes_next_pass_and_a_hole_never(start, batches, moved):
    """Each batch begins so much before the next offset, and ends so much behind it; then one comes that is too far."""
    stands = [start]
    continuity = Continuity(lambda: {HERE: stands[0], THERE: 0}, lambda _: 0)
    for back, ahead in batches:
        continuity.check(HERE, range(stands[0] - back, stands[0] + ahead))
        stands[0] += ahead
    if moved:
        continuity.forget()
    with pytest.raises(SkippedError, match=f"TweetCreated/7: offset {stands[0] + 1} came, and {stands[0]} should"):
        continuity.check(HERE, [stands[0] + 1])


def test_a_hole_within_a_batch_is_found():
    """Not only one between two."""
    with pytest.raises(SkippedError, match="offset 3 came, and 2 should"):
        Continuity(lambda: {HERE: 0}, lambda _: 0).check(HERE, [0, 1, 3])


def test_a_partition_that_comes_back_begins_where_others_left_it():
    """Not where we did."""
    stands = [0]
    continuity = Continuity(lambda: {HERE: stands[0], THERE: 0}, lambda _: 0)
    continuity.check(HERE, [0, 1])
    stands[0] = 50
    continuity.forget()
    continuity.check(HERE, [50])


def test_a_kafka_that_is_away_is_asked_again():
    """Where the group stands is no guess."""
    answers = iter([KafkaAwayError("away"), KafkaAwayError("away"), 3])
    slept = []

    def committed():
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return {HERE: answer}

    Continuity(committed, lambda _: 0, slept.append).check(HERE, [3])
    assert len(slept) == 2


def test_what_kafka_has_no_longer_is_not_owed():
    """Retention went past the group: that is no fault of Faust's."""
    continuity = Continuity(lambda: {HERE: 3}, lambda _: 10)
    continuity.check(HERE, [10, 11])
    with pytest.raises(SkippedError, match="13 came, and 12"):
        continuity.check(HERE, [13])
