"""Who is a celebrity, as far as this process knows."""

import pytest

from timeline_service.celebrities import Celebrities, Sayings
from timeline_service.timeline import StoreAwayError

from .world import World


class Index:
    """The database's answer, or none."""

    def __init__(self):
        self.answer = None

    def read(self):
        if self.answer is None:
            raise StoreAwayError("no route")
        return self.answer


def test_nothing_is_served_before_the_set_was_read():
    """Not to know who is a celebrity would mean to leave their tweets out."""
    index = Index()
    celebrities = Celebrities(index.read)
    with pytest.raises(StoreAwayError):
        celebrities.known()
    with pytest.raises(StoreAwayError):
        celebrities.check()
    index.answer = ["bob"]
    with pytest.raises(StoreAwayError):
        celebrities.check()  # a probe reads nothing itself
    assert celebrities.known() == {"bob"}
    celebrities.check()


def test_while_the_database_is_away_the_old_set_serves():
    """Its age tells."""
    index = Index()
    index.answer = ["bob"]
    celebrities = Celebrities(index.read)
    celebrities.refresh()
    index.answer = None
    with pytest.raises(StoreAwayError):
        celebrities.refresh()
    assert celebrities.known() == {"bob"}
    index.answer = ["carol"]
    celebrities.refresh()
    assert celebrities.known() == {"carol"}


def test_what_one_read_found_no_later_read_misses():
    """However many ids each asks for: else a page would lack what the mark above it names as seen."""
    world, star = World(), frozenset({"star"})
    world.promote("star")
    sayings = Sayings(world.famous, world.cache.authors, world.building, 9, lambda: world.now)
    sayings.runs(star, None)
    said = world.say("star").tweet_id
    world.deliver(0)
    found = set()
    for count in (60, None, 9, 90):
        (run,) = sayings.runs(star, count)
        assert found <= {*run.ids}
        found = {*run.ids}
    world.wait()
    assert [run.ids for run in sayings.runs(star, 60)] == [[said]]
