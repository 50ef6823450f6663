"""Pages below the cached list: what they cost at most, and what is kept of them."""

import pytest

from murmuration_runtime.errors import RedisAwayError
from murmuration_timelines.merge import TOP
from timeline_service.deep_pages import DeepPages
from timeline_service.reads_ahead import MANY, QUERIES_A_SECOND
from timeline_service.rebuild_slots import BusyError

from .replicas import replica
from .world import CAP, World

SAID = 20 * CAP


@pytest.fixture
def world():
    """Let ann follow just as many as make a read far down expensive, all of whom said something long ago."""
    world = World()
    world.database.follows = {("ann", f"f-{n}") for n in range(MANY)}
    for n in range(SAID):
        world.say(f"f-{n % 10}")
    world.dust_settles()
    world.now += 3_600
    return world


def pages(world):
    """A process that has read nothing yet."""
    return DeepPages(world.builder)


def test_a_reader_of_many_has_to_pause_between_two_reads(world):
    """Cursors that are made up are served by what was read, or not before it is paid for."""
    authors, ids = world.authors.of("ann", []), sorted(world.database.said, reverse=True)
    assert pages(world).run("ann", authors, ids[50], 3).ids[:3] == ids[51:54]
    asked = world.database.queries
    assert pages(world).run("ann", authors, ids[52], 3).ids[:3] == ids[53:56]
    with pytest.raises(BusyError) as busy:
        pages(world).run("ann", authors, ids[49], 3)
    assert world.database.queries == asked
    assert 0 < busy.value.retry_after_seconds <= MANY / QUERIES_A_SECOND + 1
    world.now += busy.value.retry_after_seconds
    assert pages(world).run("ann", authors, ids[49], 3).ids[:3] == ids[50:53]


def test_a_reader_of_few_reads_whatever_they_ask_for(world):
    """It costs less than a pause would."""
    world.database.follows.remove(("ann", f"f-{MANY - 1}"))  # who said nothing
    authors, ids = world.authors.of("ann", []), sorted(world.database.said, reverse=True)
    for below in (50, 49, 48):
        assert pages(world).run("ann", authors, ids[below], 1).ids[0] == ids[below + 1]


def test_what_a_rebuild_has_read_serves_the_pages_below(world):
    """They cost no query, on any process."""
    world.pages.home("ann", 1)
    asked = world.database.queries
    below = world.warm("ann").floor
    run = pages(world).run("ann", world.authors.of("ann", []), below, 3)
    assert run.ids == [one for one in sorted(world.database.said, reverse=True) if run.floor <= one < below] != []
    assert world.database.queries == asked


def test_what_was_read_is_kept_by_the_process_while_redis_is_away(world):
    """Whoever scrolls on costs no more than with it; what is young is read anew."""
    world.nodes.away = True
    authors, ids = world.authors.of("ann", []), sorted(world.database.said, reverse=True)
    pages(world).run("ann", authors, ids[50], 3)
    asked = world.database.queries
    assert pages(world).run("ann", authors, ids[51], 3).ids[:3] == ids[52:55]
    assert world.database.queries == asked
    for _ in range(2):
        assert pages(world).run("ann", authors, TOP, 3).ids[:3] == ids[:3]
    assert world.database.queries > asked


def test_what_was_read_is_kept_and_paced_by_the_process_while_redis_refuses_writes(world):
    """Its disk is full, or its replicas are gone: it answers, and does not have it. Then it counts what it has."""
    authors, ids = world.authors.of("ann", []), sorted(world.database.said, reverse=True)

    def refuse(name, _keys):
        if name == "set":
            raise RedisAwayError("MISCONF")

    world.nodes.before = refuse
    pages(world).run("ann", authors, ids[50], 3)
    asked = world.database.queries
    assert pages(world).run("ann", authors, ids[51], 3).ids[:3] == ids[52:55]
    with pytest.raises(BusyError) as busy:
        pages(world).run("ann", authors, ids[40], 3)
    assert world.database.queries == asked
    world.now += busy.value.retry_after_seconds
    world.nodes.before = lambda *_: None
    pages(world).run("ann", authors, ids[40], 3)
    world.builder.ahead.keep("ann", authors, ids[20], world.builder.gather(authors, ids[20], 3))
    asked = world.database.queries
    assert pages(world).run("ann", authors, ids[21], 3).ids[:3] == ids[22:25]
    assert world.database.queries == asked


def test_who_joined_the_read_of_another_page_is_told_to_come_again(world):
    """One is under way for each reader: what it found may not be what the second one asked for."""
    authors, ids = world.authors.of("ann", []), sorted(world.database.said, reverse=True)
    world.builder.run = lambda _name, _work: world.builder.ahead.keep("ann", authors, ids[50], run)
    run = world.builder.gather(authors, ids[50], 3)
    assert pages(world).run("ann", authors, ids[50], 3) == run
    world.now += 1
    with pytest.raises(BusyError, match="another page"):
        pages(world).run("ann", authors, ids[40], 3)


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


def test_a_deep_page_of_a_reader_who_follows_5000_is_bounded(deep):
    """Any cursor that somebody makes up asks for one."""
    world, below = deep
    before = world.database.queries
    assert len(world.pages.home("ann", 2, below).tweets) == 2
    assert world.database.queries - before < 1_000


def test_what_was_read_ahead_serves_the_next_page_on_any_replica(deep):
    """The second page asks the database for nothing, whichever process answers."""
    world, below = deep
    below = world.pages.home("ann", 2, below).tweets[-1].tweet_id
    before = world.database.queries
    assert len(replica(world).home("ann", 2, below).tweets) == 2
    assert world.database.queries == before


@pytest.fixture
def departure(world):
    """Let somebody whom ann follows say a lot, then all others as much, and then leave."""
    world.database.follows.add(("ann", "f-more"))
    said = [world.say("f-0") for _ in range(SAID)]
    for n in range(1, 2 * CAP):
        world.say(f"f-{n}")
    world.dust_settles()
    world.now += 3_600
    world.database.gone.add("f-0")
    return world, said


def of_others(world):
    """What ann is to see, newest first."""
    return [one for one in world.database.truth("ann") if one.author_id != "f-0"]


def test_what_somebody_said_who_departed_takes_no_place_far_down(departure):
    """A run of it would show nothing, and the next one is not to be read at once."""
    world, said = departure
    world.pages.home("ann", 1)
    world.now += 10
    above = str(int(said[-1].tweet_id) + 1)
    expected = [one for one in of_others(world) if one.tweet_id < said[-1].tweet_id]
    assert world.pages.home("ann", 3, above).tweets == expected[:3]


def test_a_rebuild_keeps_nothing_of_who_departed_and_serves_the_pages_below(departure):
    """By the same names as the pages ask by; whom the timeline shows is as in the tables."""
    world, said = departure
    world.pages.home("ann", 1)
    timeline = world.warm("ann")
    assert not {*timeline.ids} & {one.tweet_id for one in said}
    assert "f-0" in timeline.shown
    asked = world.database.queries
    expected = [one for one in of_others(world) if one.tweet_id < timeline.floor]
    assert world.pages.home("ann", 3, timeline.floor).tweets == expected[:3]
    assert world.database.queries == asked
