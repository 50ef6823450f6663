"""Who deleted their account."""

import pytest

from murmuration_runtime.errors import StoreAwayError
from timeline_service.departed import REMEMBERED_SECONDS, Departed


def test_whoever_is_in_the_index_is_remembered_until_redis_knows_of_each_tweet():
    """The table knows first that all are erased."""
    there, now = {"ann"}, [0.0]
    departed = Departed(lambda: there, lambda: now[0])
    departed.refresh()
    there.clear()
    for now[0] in (1.0, REMEMBERED_SECONDS - 1):
        departed.refresh()
        assert "ann" in departed
    now[0] = REMEMBERED_SECONDS
    departed.refresh()
    assert "ann" not in departed


def test_a_process_that_never_read_it_is_not_ready():
    """It would show whom it must not."""

    def fail():
        raise StoreAwayError("no route")

    departed = Departed(fail, float)
    with pytest.raises(StoreAwayError, match="route"):
        departed.refresh()
    with pytest.raises(StoreAwayError, match="not yet said"):
        departed.check()
    assert "ann" not in departed


def test_how_old_the_set_is_tells_since_when_it_cannot_be_read():
    """Meanwhile the old one serves."""
    answers, now = iter([{"ann"}]), [0.0]
    departed = Departed(lambda: next(answers), lambda: now[0])
    now[0] = 2.0
    assert departed.age() == now[0]
    departed.refresh()
    assert departed.age() == 0
    now[0] += 7
    with pytest.raises(StopIteration):
        departed.refresh()
    assert ("ann" in departed, departed.age()) == (True, 7)
