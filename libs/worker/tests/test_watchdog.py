"""A worker that hangs is ended; one that waits, works or was paused is not."""

import pytest

from contracts import ContractError
from murmuration_runtime.errors import StoreRefusedError
from murmuration_runtime.kafka import KafkaAwayError
from murmuration_worker import exits
from murmuration_worker.watchdog import EVERY_SECONDS, Patience, Watchdog


def ended(looks, *, heartbeats=lambda: 5, behind=lambda: 3, are_same_topics=lambda: True):
    """Look so often with a patience of three looks; return the exit codes."""
    codes = []
    dog = Watchdog(3 * EVERY_SECONDS, heartbeats, behind, are_same_topics, "python -m it mend", codes.append)
    for _ in range(looks):
        dog.look()
    return codes


def failing(error):
    def ask():
        raise error

    return ask


def test_lag_without_progress_ends_the_process():
    """The first look only learns where the work stands; three more in vain are enough."""
    assert ended(3) == []
    assert ended(4) == [exits.STUCK]


def test_progress_or_no_lag_does_not():
    """Each attempt counts, so an outage that is waited out in place is not ended."""
    numbers = iter(range(100))
    assert ended(20, heartbeats=lambda: next(numbers)) == []
    assert ended(20, behind=lambda: 0) == []


def test_patience_begins_anew_with_each_progress():
    """Slow is not stuck."""
    patience = Patience(3)
    assert not any(patience.is_over(heartbeats, behind=1) for heartbeats in (1, 1, 1, 2, 2, 2, 3, 3, 3))
    assert patience.is_over(3, behind=1)


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
