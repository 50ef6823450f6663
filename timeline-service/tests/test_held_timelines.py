"""The newest of home timelines, as one process holds them."""

from timeline_service.held_timelines import HeldTimelines

from .world import World


def readers(*people):
    """Let each read their own tweet."""
    world = World()
    for person in people:
        world.say(person)
        world.dust_settles()
        world.builder.home(person)
    return world


def test_what_has_not_changed_is_not_read_again():
    """A tweet that arrives, another whom it shows, and a longer page are."""
    world = readers("ann", "bob")
    held = HeldTimelines(world.cache.home)
    first = held.newest("ann", 60)
    assert held.newest("ann", 60) is held.newest("ann", 9) is first
    world.say("ann")
    world.deliver(0)
    assert len(held.newest("ann", 60).ids) == 2
    world.follow("ann", "bob")
    world.dust_settles()
    assert "bob" in held.newest("ann", 60).shown
    before = held.newest("ann", 60)
    assert held.newest("ann", 61) is not before


def test_a_shorter_page_is_cut_from_a_longer_one():
    """It is as if no more had been read: whether enough of it shows is told of the whole list, not of what is held."""
    world = readers("ann", "ann", "ann")
    held = HeldTimelines(world.cache.home)
    ids = held.newest("ann", 60).ids
    short = held.newest("ann", 2)
    assert (short.ids, short.floor) == (ids[:2], ids[1])
    assert held.newest("ann", 60).ids == ids


def test_what_is_cold_is_not_held():
    """It was evicted, and another process may have built it since."""
    world = readers("ann", "bob", "eve")
    held = HeldTimelines(world.cache.home, 2_500)
    assert held.newest("nobody", 60) is None
    bob, _ = held.newest("bob", 60), held.newest("ann", 60)
    world.evict("ann")
    assert held.newest("ann", 60) is None
    held.newest("eve", 60)  # in the room of ann's
    assert held.newest("bob", 60) is bob


def test_who_was_away_longest_is_dropped_when_there_is_no_room():
    """A timeline with one id takes some 1,100 bytes."""
    world = readers("ann", "bob", "eve")
    held = HeldTimelines(world.cache.home, 2_500)
    ann, bob = held.newest("ann", 60), held.newest("bob", 60)
    assert held.newest("ann", 60) is ann
    held.newest("eve", 60)
    assert held.newest("ann", 60) is ann
    assert held.newest("bob", 60) is not bob
