"""Faults that are known: each test is a promise that does not hold yet, and leaves this list when it does."""

from contextlib import closing

import pytest

from contracts.ids import first_id
from murmuration_testkit.promises import promised
from murmuration_testkit.redis_nodes import redis_node
from murmuration_testkit.waiting import eventually
from murmuration_timelines import layout
from murmuration_timelines.layout import BEGINNING
from murmuration_timelines.merge import Run
from murmuration_timelines.reader import TimelineReader, connect
from timeline_service.authors import Authors
from timeline_service.bodies import Bodies
from timeline_service.builder import Builder
from timeline_service.celebrity_tweets import CelebrityTweets
from timeline_service.confirming import Confirming
from timeline_service.page import Pages
from timeline_service.rebuild_slots import RebuildSlots
from timeline_service.since_mark import NOTHING, read_mark, write_mark

from .memory import MemoryDatabase
from .world import CAP, World

IMPATIENT_S = 0.3  # how long a test's client waits for a Redis that hangs


def ignore(*_):
    """Look at nothing."""


def replica(world):
    """Return a second process over the stores of this world."""
    celebrity_tweets = CelebrityTweets(world.famous, world.cache.authors, world.builder, 9, lambda: world.now)
    bodies = Bodies(world.cache, world.database)
    parts = world.cache, world.authors, world.database, world.builder, celebrity_tweets, bodies, ignore
    confirming = Confirming(world.edges_mark, world.database, float, ignore)
    return Pages(*parts, world.sources.append, lambda: world.now, confirming, 1)


@pytest.fixture
def node():
    with redis_node() as node:
        yield node


@pytest.fixture
def cache(node):
    with closing(connect(node.url)) as nodes:
        yield TimelineReader(nodes)


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
def test_e3_no_page_goes_back_in_time(happens):
    """A tweet that one process showed, or showed no longer, is shown, or no longer, by the other one too."""
    world, other = two_processes()
    happens(world)
    world.deliver(0)
    there = other.home("ann", 20).tweets
    with promised():
        assert world.pages.home("ann", 20).tweets == there


def test_e3_since_repeats_nothing_whichever_process_answers():
    """The second of three polls is answered by a process that does not know of the new tweet yet."""
    world, other = two_processes()
    world.say("star")
    world.deliver(0)
    newest = other.home("ann", 20).newest
    newest = world.pages.home("ann", 20, since=read_mark(newest)).newest
    world.now += 1.1
    with promised():
        assert other.home("ann", 20, since=read_mark(newest)).tweets == []


def test_e4_pollers_miss_nothing_when_a_worker_dies():
    """Every second tweet of 20 s, which is a session timeout of 10 s and a rebalance, comes at the end of them."""
    start = 1_700_000_000
    came = {first_id(start * 1000 + n * 500): 20 if n < 40 and n % 2 else n / 2 for n in range(80)}
    shown, seen = set(), NOTHING
    for now in range(0, 60, 2):
        there = sorted((tweet_id for tweet_id, at in came.items() if at <= now), reverse=True)
        shown.update(filter(seen.is_new, there))
        seen = read_mark(write_mark(Run(there, BEGINNING), start + now))
    with promised():
        assert shown == {*came}


@pytest.mark.stack
def test_e6_a_rebuild_by_a_slow_database_reads_nothing_twice(node, cache, monkeypatch):
    """A chunk of queries takes longer than a mark lives that nobody renews meanwhile."""
    monkeypatch.setattr(layout, "REBUILD_SECONDS", 1)
    mark, asked = layout.home_timeline("ann"), set()

    class Slow(MemoryDatabase):
        def ids(self, below, count):
            with promised():
                assert not asked & below.keys()
            asked.update(below)
            node.redis.pexpire(mark, 500)
            eventually(lambda: 0 <= node.redis.pttl(mark) <= 500, False)  # renewed, or gone
            return super().ids(below, count)

    database = Slow()
    database.follows = {("ann", f"f-{n}") for n in range(100)}
    Builder(cache, Authors(database, database), database, RebuildSlots(1, 0)).home("ann")
    assert cache.home.load(["ann"])


@pytest.mark.parametrize("deleted", [False, True], ids=["unfollowed", "deleted"])
def test_e13_a_timeline_of_tweets_that_do_not_show_is_built_anew(deleted):
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
    with promised():
        assert world.database.queries == before


@pytest.fixture
def deep():
    """Let ann follow 5,000, and have a cached timeline; return an id below all that is cached."""
    world = World()
    world.database.follows = {("ann", f"f-{n}") for n in range(5_000)}
    said = [world.say(f"f-{n}") for n in range(2 * CAP)]
    world.dust_settles()
    world.now += 3_600
    world.pages.home("ann", 1)
    return world, said[CAP].tweet_id


def test_e15_a_deep_page_of_a_reader_who_follows_5000_is_bounded(deep):
    """Any cursor that somebody makes up asks for one."""
    world, below = deep
    before = world.database.queries
    assert len(world.pages.home("ann", 2, below).tweets) == 2
    with promised():
        assert world.database.queries - before < 1_000


def test_e15_what_was_read_ahead_serves_the_next_page_on_any_replica(deep):
    """The second page asks the database for nothing, whichever process answers."""
    world, below = deep
    below = world.pages.home("ann", 2, below).tweets[-1].tweet_id
    before = world.database.queries
    assert len(replica(world).home("ann", 2, below).tweets) == 2
    with promised():
        assert world.database.queries == before
