"""How timelines are built."""

import threading

import pytest

from murmuration_timelines import layout
from murmuration_timelines.shown import Shown
from timeline_service.rebuild_slots import BusyError

from .world import HOME_COMMIT, IDS, World


def test_a_rebuild_that_takes_longer_than_its_marker_lives_renews_it(monkeypatch):
    """Whatever it waits for; so it is kept, however slow the database is."""
    monkeypatch.setattr(layout, "REBUILD_SECONDS", 0.04)
    world, renewed = World(), threading.Semaphore(0)
    world.nodes.after = lambda name, _keys: name == "renew" and renewed.release()

    def wait(read):
        if read == "ids":
            assert renewed.acquire(timeout=30)

    world.database.after = wait
    world.paged("alice", 20)
    assert world.warm("alice")


def test_a_rebuild_whose_marker_is_gone_reads_nothing_twice():
    """What it has read is shown, and the next read builds."""
    world = World()
    said = world.say("alice")
    world.dust_settles()
    world.during(IDS, World.evict, "alice")
    assert world.paged("alice", 20) == [said]
    assert (world.database.queries, world.warm("alice")) == (1, None)
    assert world.paged("alice", 20) == [said]
    assert world.warm("alice")


def test_a_follow_during_a_rebuild_costs_no_second_one():
    """Who was read is not read again; whoever follows somebody every second gets a timeline all the same."""
    world = World()
    world.database.follows = {("alice", f"f-{n}") for n in range(50)}
    for n in range(60):
        world.say(f"f-{n}")
    world.dust_settles()

    def follow(n=50):
        world.follow("alice", f"f-{n}")
        world.deliver(0)
        if n < 55:
            world.during(HOME_COMMIT, lambda _: follow(n + 1))

    world.during(HOME_COMMIT, lambda _: follow())
    world.pages.home("alice", 3)
    assert world.database.queries <= 51 + 2 * 6
    assert world.warm("alice").shown == Shown.of(["alice", *(f"f-{n}" for n in range(56))])
    assert world.paged("alice", 20) == world.database.truth("alice")


def test_of_each_author_no_more_is_read_than_may_show():
    """One query for each author, and more only for those who said most."""
    world = World(cap=60)
    world.database.follows = {("alice", f"f-{n}") for n in range(50)}
    for n in range(900):
        world.say(f"f-{n % 50}" if n % 3 else "f-1")
    world.dust_settles()
    world.pages.home("alice", 5)
    ids = [tweet.tweet_id for tweet in world.database.truth("alice")]
    assert world.warm("alice").ids == ids[:60]
    assert world.database.read < 5 * 60


def test_who_waited_while_another_built_takes_what_is_there():
    """The same work is not done again for somebody who asked twice."""
    world = World()
    world.paged("alice", 20)
    queries = world.database.queries
    assert world.builder.home("alice") == world.warm("alice")
    assert world.database.queries == queries


def test_who_comes_when_all_slots_are_taken_is_told_so_and_counted():
    """The warm are served as before."""
    world = World(slots=1)
    world.say("alice")
    world.dust_settles()
    world.paged("alice", 20)
    with world.slots.one():
        with pytest.raises(BusyError):
            world.paged("bob", 20)
        assert world.paged("alice", 20) == world.database.truth("alice")
    assert world.sources == ["rebuild", "shed", "cache"]
    assert world.paged("bob", 20) == []
