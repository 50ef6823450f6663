"""A partition that hangs ends the worker; one that waits, works, has nothing to do or was paused does not."""

from itertools import count

import pytest

from contracts import ContractError
from murmuration_runtime.errors import StoreRefusedError
from murmuration_runtime.kafka import KafkaAwayError
from murmuration_runtime.periodic import call_once
from murmuration_worker import exits
from murmuration_worker.metrics import STILL
from murmuration_worker.progress import Sight
from murmuration_worker.watchdog import EVERY_SECONDS, Watchdog

ONE, TWO = ("T", 1), ("T", 2)
STANDS = Sight(None, 5)
HANGS = Sight(7, 5)


def ended(looks, *, sights=lambda: {ONE: STANDS}, behind=lambda: {ONE: 3}, are_same_topics=lambda: True):
    """Look so often with a patience of three looks; return the exit codes."""
    codes = []
    dog = Watchdog(3 * EVERY_SECONDS, sights, behind, are_same_topics, "python -m it mend", codes.append)
    for _ in range(looks):
        call_once("watchdog", dog.look)
    return codes


def failing(error):
    def ask():
        raise error

    return ask


def test_lag_without_progress_ends_the_process():
    """The first look only learns where the work stands; three more in vain are enough."""
    assert ended(3) == []
    assert ended(4) == [exits.STUCK]


def test_a_partition_that_was_never_in_hand_may_be_stuck_too():
    """Faust does not give us what Kafka has."""
    assert ended(4, sights=dict) == [exits.STUCK]


@pytest.mark.parametrize("stuck", [STANDS, HANGS], ids=["nothing comes", "a try hangs"])
def test_one_partition_that_stands_still_is_seen_while_others_go_on(stuck, caplog):
    """It is named in the log, and measured before that."""
    numbers = count()
    sights = lambda: {ONE: Sight(None, next(numbers)), TWO: stuck}  # noqa: E731
    lag = lambda: {ONE: 9, TWO: 1}  # noqa: E731
    assert ended(3, sights=sights, behind=lag) == []
    assert STILL.labels("T", 2)._value.get() == 2 * EVERY_SECONDS  # noqa: SLF001
    assert STILL.labels("T", 1)._value.get() == 0  # noqa: SLF001
    assert ended(4, sights=sights, behind=lag) == [exits.STUCK]
    assert [record.partitions for record in caplog.records if hasattr(record, "partitions")] == [["T/2"]]


def test_progress_or_no_lag_does_not():
    """Each attempt counts, so an outage that is waited out in place is not ended; nor is who has nothing to do."""
    numbers = count()
    assert ended(20, sights=lambda: {ONE: Sight(7, next(numbers))}) == []
    assert ended(20, behind=lambda: {ONE: 0}) == []


def test_patience_begins_anew_with_each_progress():
    """Slow is not stuck."""
    heartbeats = iter((1, 1, 1, 2, 2, 2, 3, 3, 3, 3))
    codes = ended(9, sights=lambda: {ONE: Sight(7, next(heartbeats))})
    assert codes == []


def test_a_partition_that_comes_to_us_is_new():
    """What it did elsewhere says nothing."""
    lags = iter([{TWO: 0}, {TWO: 0}, {TWO: 0}, {ONE: 3}, {ONE: 3}, {ONE: 3}, {}, {ONE: 3}, {ONE: 3}, {ONE: 3}])
    assert ended(10, behind=lambda: next(lags)) == []


@pytest.mark.parametrize("name", ["behind", "are_same_topics"])
@pytest.mark.parametrize("error", [KafkaAwayError("away"), StoreRefusedError("no"), RuntimeError("a bug")], ids=str)
def test_what_cannot_be_asked_is_no_lag_and_the_next_look_comes(name, error):
    """Kafka away: a new process could do no more."""
    assert ended(20, **{name: failing(error)}) == []


@pytest.mark.parametrize("topics", [lambda: False, failing(ContractError("T has 3 partitions"))], ids=["id", "number"])
def test_a_topic_made_again_ends_the_process_at_once_and_names_the_repair(topics, caplog):
    """With as many partitions or with others; the next process begins with the new topic, or says what is wrong."""
    assert ended(1, are_same_topics=topics) == [exits.OTHER_TOPIC]
    assert "run `python -m it mend`" in caplog.text
