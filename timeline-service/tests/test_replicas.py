"""Two processes over one cache: whichever answers, no page goes back in time, and nothing comes twice."""

import pytest

from timeline_service.since_mark import read_mark

from .replicas import replica
from .world import World


def two_processes():
    """Let ann follow a celebrity who said something, and one process hold that."""
    world = World(cap=60)
    world.follow("ann", "star")
    world.promote("star")
    world.say("star")
    world.dust_settles()
    world.pages.home("ann", 20)
    world.now += 0.2
    return world, replica(world)


@pytest.mark.parametrize(
    "happens", [lambda world: world.say("star"), lambda world: world.delete(0)], ids=["said", "deleted"]
)
def test_no_page_goes_back_in_time(happens):
    """A tweet that one process showed, or showed no longer, is shown, or no longer, by the other one too."""
    world, other = two_processes()
    happens(world)
    world.deliver(0)
    there = other.home("ann", 20).tweets
    assert world.pages.home("ann", 20).tweets == there


def test_since_repeats_nothing_whichever_process_answers():
    """The second of three polls is answered by a process that does not know of the new tweet yet."""
    world, other = two_processes()
    world.say("star")
    world.deliver(0)
    newest = other.home("ann", 20).newest
    newest = world.pages.home("ann", 20, since=read_mark(newest)).newest
    world.now += 1.1
    assert other.home("ann", 20, since=read_mark(newest)).tweets == []
