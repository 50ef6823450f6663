"""Who is a celebrity, as far as this process knows."""

import pytest

from murmuration_runtime.errors import StoreAwayError
from murmuration_timelines.celebrity_index import CelebrityIndex
from murmuration_timelines.shown import Shown


class Database:
    """Its answer, or none."""

    answer = None

    def read(self):
        if self.answer is None:
            raise StoreAwayError("no route")
        return self.answer


def test_nothing_is_served_before_the_set_was_read():
    """Not to know who is a celebrity would mean to leave their tweets out."""
    database = Database()
    index = CelebrityIndex(database.read)
    with pytest.raises(StoreAwayError):
        index.celebrities()
    with pytest.raises(StoreAwayError):
        index.check()
    database.answer = ["bob"]
    with pytest.raises(StoreAwayError):
        index.check()  # a probe reads nothing itself
    assert index.celebrities() == {"bob"}
    index.check()


def test_while_the_database_is_away_the_old_set_serves():
    """Its age tells."""
    now, database = 1000.0, Database()
    database.answer = ["bob"]
    index = CelebrityIndex(database.read, clock=lambda: now)
    index.refresh()
    database.answer, now = None, 1007.0
    with pytest.raises(StoreAwayError):
        index.refresh()
    assert index.celebrities() == {"bob"}
    assert index.age() == 7
    database.answer = ["carol"]
    index.refresh()
    assert (index.lists("bob"), index.lists("carol"), index.age()) == (False, True, 0)


def test_celebrities_among_the_shown_are_named():
    """A timeline has digests alone."""
    database = Database()
    database.answer = ["bob", "carol"]
    index = CelebrityIndex(database.read)
    assert index.among(Shown.of(["ann", "bob"])) == ["bob"]
    assert index.among(Shown()) == []
