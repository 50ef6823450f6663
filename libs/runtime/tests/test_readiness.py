"""Readiness speaks of this process alone."""

from murmuration_runtime.errors import StoreAwayError, StoreRefusedError
from murmuration_runtime.metrics import METRICS
from murmuration_runtime.readiness import Readiness


class Store:
    """A store that answers, or raises what it is told to."""

    def __init__(self):
        self.error = None

    def check(self):
        if self.error:
            raise self.error


def up(name):
    return METRICS.get_sample_value("store_up", {"store": name})


def test_a_process_is_ready_when_each_store_has_answered_once():
    """Until then it says for which it waits, and why."""
    readiness, store = Readiness("dynamodb"), Store()
    assert readiness.waiting_for() == ["dynamodb: not checked yet"]
    store.error = StoreAwayError("no route")
    readiness.look({"dynamodb": store.check})
    assert readiness.waiting_for() == ["dynamodb: no route"]
    store.error = None
    readiness.look({"dynamodb": store.check})
    assert readiness.waiting_for() == []
    assert up("dynamodb") == 1


def test_a_store_that_goes_away_later_is_a_metric_and_no_reason_to_be_unready():
    """All replicas share it: unready, none of them could be replaced by the one that mends it."""
    readiness, store = Readiness("redis"), Store()
    readiness.look({"redis": store.check})
    store.error = StoreAwayError("gone")
    readiness.look({"redis": store.check})
    assert readiness.waiting_for() == []
    assert up("redis") == 0


def test_a_store_that_refuses_this_process_makes_it_unready():
    """Its own credentials are wrong, and another replica's may be right."""
    readiness, store = Readiness("dynamodb"), Store()
    readiness.look({"dynamodb": store.check})
    store.error = StoreRefusedError("wrong key")
    readiness.look({"dynamodb": store.check})
    assert readiness.waiting_for() == ["dynamodb: wrong key"]


def test_a_check_that_fails_for_an_unforeseen_reason_keeps_no_other_from_being_made(caplog):
    """It is told with its reason, and the next store is checked."""
    readiness, broken, store = Readiness("dynamodb", "redis"), Store(), Store()
    broken.error = ValueError("wrong key")
    readiness.look({"dynamodb": broken.check, "redis": store.check})
    assert readiness.waiting_for() == ["dynamodb: wrong key"]
    assert (up("dynamodb"), up("redis")) == (0, 1)
    assert "ValueError: wrong key" in caplog.text


def test_waiting_ends_with_the_first_answer(caplog):
    """Each new reason is logged once, and that is all that is logged of the tries."""
    answers = iter([StoreAwayError("a"), StoreAwayError("a"), KeyError("b"), 7])

    def attempt():
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    paused, readiness = [], Readiness()
    assert readiness.wait("kafka", attempt, KeyError, pause=3, sleep=paused.append) == 7
    assert paused == [3, 3, 3]
    assert readiness.waiting_for() == []
    assert [record.message for record in caplog.records] == ["not ready", "not ready"]
