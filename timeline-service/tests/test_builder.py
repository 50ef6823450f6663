"""How timelines are built."""

import pytest

from timeline_service.building import CHUNK
from timeline_service.places import BusyError

from .memory import MemoryTimelines
from .world import World


class Mortal(MemoryTimelines):
    """Marks that are gone after two queries of the index, unless they are renewed."""

    left = 0

    def begin(self, owner_id):
        self.left = 2
        return super().begin(owner_id)

    def renew(self, owner_id, token, **more):
        self.left = 2
        return super().renew(owner_id, token, **more)

    def age(self, owner_id):
        self.left -= 1
        if self.left == 0:
            self.cool(owner_id)


def test_a_rebuild_that_takes_longer_than_its_mark_lives_renews_it():
    """Between two pieces of its work; so it is kept, however many are followed."""
    world = World()
    world.cache.home = Mortal(world.cache.check)
    world.archive.follows = {("alice", f"f-{n}") for n in range(3 * CHUNK)}

    def age():
        world.cache.home.age("alice")
        world.archive.on_ids = age

    world.archive.on_ids = age
    world.paged("alice", 20)
    assert len(world.cache.home.warm["alice"].following) == 3 * CHUNK + 1


def test_a_follow_during_a_rebuild_costs_no_second_one():
    """Who was read is not read again; whoever follows somebody every second gets a timeline all the same."""
    world = World()
    world.archive.follows = {("alice", f"f-{n}") for n in range(50)}
    for n in range(60):
        world.say(f"f-{n}")
    world.dust_settles()

    def follow(n=50):
        world.follow("alice", f"f-{n}")
        world.deliver(0)
        world.cache.home.on_commit = (lambda: follow(n + 1)) if n < 55 else None

    world.cache.home.on_commit = follow
    world.reading.home("alice", 3)
    assert world.archive.queries <= 51 + 2 * 6
    assert world.cache.home.warm["alice"].following == {"alice", *(f"f-{n}" for n in range(56))}
    assert world.paged("alice", 20) == world.archive.truth("alice")


def test_of_each_author_no_more_is_read_than_may_show():
    """One query for each author, and more only for those who said most."""
    world = World(cap=60)
    world.archive.follows = {("alice", f"f-{n}") for n in range(50)}
    for n in range(900):
        world.say(f"f-{n % 50}" if n % 3 else "f-1")
    world.dust_settles()
    world.reading.home("alice", 5)
    ids = [tweet.tweet_id for tweet in world.archive.truth("alice")]
    assert world.cache.home.warm["alice"].ids == ids[:60]
    assert world.archive.read < 5 * 60


def test_who_waited_while_another_built_takes_what_is_there():
    """The same work is not done again for somebody who asked twice."""
    world = World()
    world.paged("alice", 20)
    queries = world.archive.queries
    assert world.building.home("alice") == world.cache.home.warm["alice"]
    assert world.archive.queries == queries


def test_who_comes_when_all_places_are_taken_is_told_so_and_counted():
    """The warm are served as before."""
    world = World(places=1)
    world.say("alice")
    world.dust_settles()
    world.paged("alice", 20)
    with world.places.one():
        with pytest.raises(BusyError):
            world.paged("bob", 20)
        assert world.paged("alice", 20) == world.archive.truth("alice")
    assert world.sources == ["rebuild", "shed", "cache"]
    assert world.paged("bob", 20) == []
