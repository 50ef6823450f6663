"""A worker that hangs is ended; one that waits, works or was paused is not."""

import pytest

from fanout_worker.streams import KafkaAwayError
from fanout_worker.watchdog import EVERY_S, EXIT_OTHER_TOPIC, EXIT_STUCK, Patience, Watchdog


def ended(looks, *, attempts=lambda: 5, behind=lambda: 3, same_topics=lambda: True, note=lambda _: None):
    """Look so often with a patience of three looks; return the exit codes."""
    codes = []
    dog = Watchdog(3 * EVERY_S, attempts, behind, same_topics, note, codes.append)
    for _ in range(looks):
        dog.look()
    return codes


def away(error):
    def ask():
        raise error

    return ask


def test_lag_without_progress_ends_the_process():
    """The first look only learns where the work stands; three more in vain are enough."""
    assert ended(3) == []
    assert ended(4) == [EXIT_STUCK]


def test_progress_or_no_lag_does_not():
    """Each attempt counts, so an outage that is waited out in place is not ended."""
    numbers = iter(range(100))
    assert ended(20, attempts=lambda: next(numbers)) == []
    assert ended(20, behind=lambda: 0) == []


def test_patience_begins_anew_with_each_progress():
    """Slow is not stuck."""
    patience = Patience(3)
    assert not any(patience.is_over(attempts, behind=1) for attempts in (1, 1, 1, 2, 2, 2, 3, 3, 3))
    assert patience.is_over(3, behind=1)


@pytest.mark.parametrize("name", ["behind", "same_topics"])
def test_what_cannot_be_asked_is_no_lag_but_is_told(name):
    """Kafka away: a new process could do no more, and readiness should know."""
    told = []
    assert ended(20, **{name: away(KafkaAwayError("no route")), "note": told.append}) == []
    assert told == ["no route"] * 20


def test_kafka_that_came_back_is_told_too():
    """Readiness must not stay with what was."""
    told = []
    ended(1, note=told.append)
    assert told == [None]


def test_a_topic_made_again_ends_the_process_at_once(caplog):
    """The next one begins with the new topic; what vanished with the old one, timelines learn by going cold."""
    assert ended(1, same_topics=lambda: False) == [EXIT_OTHER_TOPIC]
    assert "cold --all" in caplog.text
