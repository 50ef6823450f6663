"""When requests may rest on what is kept."""

from contextlib import nullcontext

import pytest

from follow_service.kept_trust import KeptTrust
from murmuration_runtime.errors import StoreAwayError, StoreRefusedError
from murmuration_runtime.settled import LATE_SECONDS
from murmuration_runtime.settled_mark import SettledMark


@pytest.fixture
def now():
    return [1_000.0]


@pytest.fixture
def mark(now):
    mark = SettledMark(lambda: 998_000, lambda: now[0])
    mark.refresh()
    return mark


@pytest.fixture
def trust(mark, now):
    return KeptTrust(mark, lambda: now[0])


def answer(trust, error=None):
    def check():
        if error:
            raise error

    with pytest.raises(type(error)) if error else nullcontext():
        trust.listening(check)()


def test_what_is_late_is_not_rested_on_while_the_tables_answer(trust, now):
    assert trust.is_settled()
    now[0] += LATE_SECONDS
    answer(trust)
    assert not trust.is_settled()


def test_what_was_settled_when_the_tables_fell_silent_goes_on_to_show(trust, now):
    """As long as they are silent: nobody can block anybody meanwhile."""
    answer(trust)
    now[0] += 60
    answer(trust, StoreAwayError("silence"))
    assert trust.is_settled()
    answer(trust)
    assert not trust.is_settled()


def test_what_was_late_when_the_tables_fell_silent_does_not_show(trust, now):
    now[0] += LATE_SECONDS
    answer(trust)
    answer(trust, StoreAwayError("silence"))
    assert not trust.is_settled()


def test_tables_that_refuse_this_process_answer_others(trust, now):
    answer(trust)
    now[0] += 60
    answer(trust, StoreRefusedError("who are you?"))
    assert not trust.is_settled()


def test_tables_that_are_silent_to_this_process_alone_answer_others(trust, mark, now):
    """It was settled until well after we heard them, and has stood still since."""
    answer(trust)
    now[0] += 60
    answer(trust, StoreAwayError("silence"))
    mark.until = now[0]
    assert trust.is_settled()
    now[0] += LATE_SECONDS
    assert not trust.is_settled()
