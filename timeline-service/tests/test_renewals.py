"""Errors age out: a warm timeline is compared with the tables, and replaced while it serves."""

import pytest

from murmuration_runtime.errors import RedisAwayError
from murmuration_timelines import layout
from murmuration_timelines.heads import DAY, REBUILT_SECONDS
from murmuration_timelines.layout import BEGINNING
from murmuration_timelines.merge import Timeline
from murmuration_timelines.shown import Shown
from timeline_service.renewals import PAUSE_SECONDS

from .world import CAP, World, days_until

HOME = layout.home_timeline("ann")


@pytest.fixture
def world():
    """Ann follows bob, and both have said something; her timeline is warm."""
    world = World()
    world.database.follows = {("ann", "bob")}
    for author in ("bob", "ann", "bob"):
        world.say(author)
    world.dust_settles()
    world.pages.home("ann", 3)
    return world


def corrupt(world, ids=(), shown=("ann",), floor=BEGINNING):
    """Have another warm timeline in the place of hers."""
    was = world.warm("ann")
    assert world.cache.home.replace("ann", was, Timeline(ids, floor, Shown.of(shown)))


def read(world):
    return world.pages.home("ann", 9).tweets


def test_whoever_is_shown_or_missing_by_mistake_is_found_within_two_days(world):
    """An event that was lost, or a bug of ours."""
    for shown in (["ann"], ["ann", "bob", "eve"]):
        corrupt(world, ["1" * 19], shown)
        assert read(world) != world.database.truth("ann")
        assert world.comparisons == []
        world.now += 2 * DAY
        assert read(world) != world.database.truth("ann")  # nobody waits for what this page began
        assert read(world) == world.database.truth("ann")
        assert world.comparisons.pop() == "differed"


def test_it_is_looked_at_once_a_day_and_not_built_anew_as_long_as_it_is_right(world):
    """That costs a query or two, and none of anybody's tweets."""
    queries = world.database.queries
    for _ in range(5):
        world.now += 1.3 * DAY
        for _ in range(3):
            read(world)
    assert world.comparisons == ["same"] * 5
    assert world.database.queries == queries


def test_no_timeline_gets_fourteen_days_old(world):
    """What is missing in a list no comparison of followees finds."""
    corrupt(world, ["1" * 19], ["ann", "bob"])
    assert days_until(world, lambda: read(world) == world.database.truth("ann")) > REBUILT_SECONDS / DAY
    assert world.comparisons[-1] == "old"


def test_a_timeline_that_hardly_shows_is_built_anew_and_not_again_and_again(world):
    """Once in a while, if most of what is built does not show either."""
    ids = [world.say("bob").tweet_id for _ in range(5)]
    world.database.deleted.update(ids)
    world.dust_settles()
    for _ in range(3):
        corrupt(world, ids[::-1], ["ann", "bob"], ids[0])
        read(world)
        assert world.comparisons == ["dropped"]
    world.now += PAUSE_SECONDS
    for _ in range(3):
        read(world)
        corrupt(world, ids[::-1], ["ann", "bob"], ids[0])
    assert world.comparisons == ["dropped"] * 2


def test_a_timeline_of_which_half_shows_is_left_as_it_is(world):
    """Some are deleted in every one."""
    said = [world.say("bob").tweet_id for _ in range(3)]
    world.dust_settles()
    world.database.deleted.update(said)
    ids = sorted(world.database.said, reverse=True)
    corrupt(world, ids, ["ann", "bob"], ids[-1])
    assert len(read(world)) == len(ids) / 2
    assert world.comparisons == []


def test_what_changes_while_it_is_compared_has_the_last_word(world):
    """A follow that is brought in meanwhile is not overwritten by what was read before."""
    corrupt(world)

    def follow(name, _keys):
        if name == "replace":
            world.nodes.before = lambda *_: None
            world.database.follows = {("ann", "eve")}
            world.refresh_followee("ann", "eve")

    world.now += 2 * DAY
    world.nodes.before = follow
    read(world)
    assert world.comparisons == ["overtaken"]
    assert "eve" in world.warm("ann").shown


def test_a_tweet_that_arrives_while_it_is_compared_is_not_lost(world):
    """It was pushed into the old list."""
    corrupt(world)

    def say(name, _keys):
        if name == "replace":
            world.nodes.before = lambda *_: None
            world.say("bob")
            world.deliver(0)

    world.now += 2 * DAY
    world.nodes.before = say
    read(world)
    assert world.comparisons == ["differed"]
    assert read(world) == world.database.truth("ann")


def test_a_store_that_is_away_costs_no_page(world, caplog):
    """It is looked at again the next day."""
    corrupt(world)

    def fail(name, _keys):
        if name == "replace":
            raise RedisAwayError("away")

    world.now += 2 * DAY
    world.nodes.before = fail
    assert read(world) == []
    assert "not compared" in caplog.text
    world.now += 2 * DAY
    world.nodes.before = lambda *_: None
    read(world)
    assert read(world) == world.database.truth("ann")


@pytest.mark.parametrize("deleted", [False, True], ids=["unfollowed", "deleted"])
def test_a_timeline_of_tweets_that_do_not_show_is_built_anew(deleted):
    """A bot that filled it was unfollowed, or deleted its tweets; one page may pay for that, not every one."""
    world = World()
    for author in ("ann", "carol", "dave"):
        world.say(author)
    world.database.follows = {("ann", "bot"), ("ann", "carol"), ("ann", "dave")}
    filling = [world.say("bot").tweet_id for _ in range(CAP)]
    world.dust_settles()
    assert [one.author_id for one in world.pages.home("ann", CAP).tweets] == ["bot"] * CAP
    if deleted:
        world.database.deleted.update(filling)
        for tweet_id in filling:
            world.writer.set_tombstone(tweet_id)
    else:
        world.follow("ann", "bot")
    world.dust_settles()
    world.pages.home("ann", 2)
    world.now += 130  # longer than what was read for that page is held
    before = world.database.queries
    assert len(world.pages.home("ann", 2).tweets) == 2
    assert world.database.queries == before
