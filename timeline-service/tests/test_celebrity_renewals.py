"""Celebrities' own lists age out as home timelines do: compared when they are due, replaced while they serve."""

from contextlib import closing, contextmanager

import pytest

from contracts.ids import first_id
from murmuration_testkit.redis_nodes import redis_node
from murmuration_timelines.fake import FakeNodes
from murmuration_timelines.heads import DAY, REBUILT_SECONDS
from murmuration_timelines.merge import Timeline
from murmuration_timelines.reader import TimelineReader, connect
from murmuration_timelines.shown import Shown
from murmuration_timelines.tweets import Tweet
from murmuration_timelines.writer import TimelineWriter
from timeline_service.authors import Authors
from timeline_service.background_work import BackgroundWork
from timeline_service.builder import Builder
from timeline_service.celebrity_reads import CelebrityReads
from timeline_service.celebrity_tweets import CelebrityTweets
from timeline_service.rebuild_slots import RebuildSlots
from timeline_service.renewals import Renewals

from .conftest import tweet
from .memory import MemoryDatabase
from .world import days_until

STAR = Shown.of(["star"])


@contextmanager
def real():
    with redis_node() as node, closing(connect(node.url)) as nodes:
        yield nodes


@contextmanager
def fake():
    yield FakeNodes()


class World:
    """A process that has a celebrity's list, and does at once what is done beside the requests."""

    def __init__(self, nodes):
        self.now, self.database, self.comparisons = 1_700_000_000.0, MemoryDatabase(), []
        self.lists, self.writer = TimelineReader(nodes, now=self.clock).authors, TimelineWriter(nodes)
        self.said = [self.say(n) for n in range(5)][::-1]
        self.tweets = self.process(nodes)
        for _ in range(2):  # of the database, and of the list
            assert self.read() == self.said

    def process(self, nodes):
        cache, authors = TimelineReader(nodes, now=self.clock), Authors(self.database, self.database)
        builder = Builder(cache, authors, self.database, RebuildSlots(1, 0))
        renewals = Renewals(cache, authors, builder, self.comparisons.append, self.clock, lambda work: work())
        reads = CelebrityReads(self.database, self.clock)
        work = BackgroundWork("not built", lambda work: work())
        parts = cache, builder, reads, renewals.look_at_celebrities, work
        return CelebrityTweets(lambda _: ["star"], *parts, 9, self.clock)

    def clock(self):
        return self.now

    def say(self, n):
        said = tweet(n, "star")
        self.database.said[said.tweet_id] = said
        return said.tweet_id

    def read(self):
        """Return what a page gets."""
        (run,) = [run for run in self.tweets.runs(STAR, 60) if run.ids]
        return [*run.ids]

    def corrupt(self, ids):
        """Have another list in the place of the warm one."""
        was = self.lists.load(["star"])["star"]
        assert self.lists.replace("star", was, Timeline(ids, was.floor, was.shown))


@pytest.fixture(params=[fake, pytest.param(real, marks=pytest.mark.stack(shared=False))])
def world(request):
    with request.param() as nodes:
        yield World(nodes)


def test_a_tweet_that_a_list_lacks_is_found_within_two_days(world):
    """The old list serves until then, and nobody waits for the new one."""
    world.corrupt([world.said[0], *world.said[2:]])
    queries = world.database.queries
    assert world.said[1] not in world.read()
    assert (world.comparisons, world.database.queries) == ([], queries)
    world.now += 2 * DAY
    assert world.said[1] not in world.read()
    assert world.comparisons == ["differed"]
    assert world.read() == world.said


def test_it_is_looked_at_once_a_day_and_not_built_anew_as_long_as_it_is_right(world):
    """That costs a query."""
    queries = world.database.queries
    for _ in range(5):
        world.now += 1.3 * DAY
        for _ in range(3):
            assert world.read() == world.said
    assert world.comparisons == ["same"] * 5
    assert world.database.queries == queries + 5


def test_no_list_gets_fourteen_days_old(world):
    """What is in it by mistake no comparison finds: pages drop it."""
    world.corrupt([*world.said, "1" * 19])
    assert days_until(world, lambda: world.read() == world.said) > REBUILT_SECONDS / DAY
    assert world.comparisons[-1] == "old"


def test_what_is_on_its_way_to_a_list_is_not_taken_for_missing(world):
    """The table has each tweet before any list does."""
    world.now += 2 * DAY
    young = first_id(int(world.now * 1000))
    world.database.said[young] = Tweet(young, "star", "{}")
    world.read()
    assert world.comparisons == ["same"]


def test_a_tweet_that_arrives_while_a_list_is_replaced_is_not_lost(world):
    """It is merged into the new one."""
    world.corrupt(world.said[1:])
    world.now += 2 * DAY
    world.database.after = lambda _: world.writer.insert_own("star", tweet(9, "star").tweet_id)
    world.read()
    assert world.comparisons == ["differed"]
    assert world.read() == [tweet(9).tweet_id, *world.said]
