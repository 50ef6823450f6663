"""What is lost on the way is noticed before anything behind it is handled: by Faust, or by Kafka's retention."""

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from murmuration_runtime.kafka import KafkaAwayError
from murmuration_worker.continuity import Continuity, Places, SkippedError
from murmuration_worker.progress import Progress

HERE = ("TweetCreated", 7)


@pytest.fixture
def kafka():
    """Where the group stands and what Kafka still has; and what was told."""
    return SimpleNamespace(committed=0, first_kept=0, vanished=[], slept=[], answers=iter(()))


@pytest.fixture
def continuity(kafka):
    def make():
        return Continuity(HERE, places(kafka))

    return make


def places(kafka):
    def committed(partition):
        assert partition == HERE
        for error in kafka.answers:
            raise error
        return kafka.committed

    return Places(
        committed,
        lambda _: kafka.first_kept,
        lambda *gap: kafka.vanished.append(gap),
        Progress(sleep=kafka.slept.append),
    )


def check(continuity, offsets):
    """Take offsets as a lane does."""
    for offset in offsets:
        while not continuity.comes_next(offset):
            continuity.ask(offset)


@given(st.integers(0, 20), st.lists(st.tuples(st.integers(0, 9), st.integers(1, 5)), max_size=20))
def test_repeats_and_what_comes_next_pass_and_a_hole_never(start, batches):
    """Each batch begins so much before the next offset, and ends so much behind it; then one comes that is too far."""
    kafka = SimpleNamespace(committed=start, first_kept=0, vanished=[], slept=[], answers=iter(()))
    continuity = Continuity(HERE, places(kafka))
    check(continuity, [start])
    stands = start + 1
    for back, ahead in batches:
        check(continuity, range(stands - back, stands + ahead))
        stands += ahead
    with pytest.raises(SkippedError, match=f"TweetCreated/7: offset {stands + 1} came, and {stands} should"):
        check(continuity, [stands + 1])


def test_nobody_is_asked_while_nothing_is_missing(continuity, kafka):
    """Kafka is asked where the group stands, once."""
    mine = continuity()
    check(mine, [0])
    kafka.answers = iter([AssertionError("asked again")])
    check(mine, [1, 2, 0, 3])


def test_the_first_one_may_be_too_far_already(continuity):
    """Nothing was handled before it."""
    with pytest.raises(SkippedError, match="offset 3 came, and 0 should"):
        check(continuity(), [3])


def test_a_kafka_that_is_away_is_asked_again(continuity, kafka):
    """Where the group stands is no guess."""
    kafka.answers, kafka.committed = iter([KafkaAwayError("away"), KafkaAwayError("away")]), 3
    check(continuity(), [3])
    assert len(kafka.slept) == 2


def test_what_kafka_gave_up_before_it_was_read_is_told_and_not_owed(continuity, kafka):
    """The group stands at 3, and what Kafka still has begins at 10: that is no fault of Faust's."""
    kafka.committed, kafka.first_kept = 3, 10
    mine = continuity()
    check(mine, [10, 11])
    assert kafka.vanished == [(HERE, range(3, 10))]
    with pytest.raises(SkippedError, match="13 came, and 12"):
        check(mine, [13])


def test_a_gap_may_be_found_while_we_read(continuity, kafka):
    """We stood still for so long that retention went past us."""
    mine = continuity()
    check(mine, [0, 1])
    kafka.first_kept = 500
    check(mine, [500])
    assert kafka.vanished == [(HERE, range(2, 500))]


def test_faust_may_lose_what_lies_behind_a_gap(continuity, kafka):
    """Both are noticed."""
    kafka.first_kept = 10
    with pytest.raises(SkippedError, match="11 came, and 10"):
        check(continuity(), [11])
    assert kafka.vanished == [(HERE, range(10))]
