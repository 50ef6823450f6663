"""What celebrities said, as one process holds it."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from murmuration_runtime import deadlines
from murmuration_runtime.deadlines import DeadlineError
from murmuration_runtime.errors import RedisAwayError
from murmuration_testkit.waiting import eventually
from murmuration_timelines import layout
from murmuration_timelines.merge import Run, union
from murmuration_timelines.shown import Shown
from timeline_service.background_work import BackgroundWork
from timeline_service.builder import Builder
from timeline_service.celebrity_reads import CelebrityReads
from timeline_service.celebrity_tweets import CelebrityTweets

from .world import CAP, World

STAR = Shown.of(["star"])
READERS = 16  # threads of a process


@pytest.fixture
def world():
    """One celebrity, who said something."""
    world = World()
    world.promote("star")
    world.say("star")
    world.dust_settles()
    return world


class SlowDatabase:
    """Answers as another one does, but some queries only when it may; a request waits no longer than it has."""

    def __init__(self, database, is_slow):
        self._database, self._is_slow = database, is_slow
        self.may_answer, self.asked = threading.Event(), []

    def ids(self, below, count):
        self.asked.append(count)
        if self._is_slow(count) and not self.may_answer.wait(deadlines.remaining(30)):
            raise DeadlineError("too slow")
        return self._database.ids(below, count)


def process(world, database):
    """A process of the service over this database, which builds lists beside its requests."""
    builder = Builder(world.cache, world.authors, database, world.slots, CAP)
    reads = CelebrityReads(database, lambda: world.now)
    work = BackgroundWork("not built")
    return CelebrityTweets(world.famous, world.cache, builder, reads, lambda _: None, work, 9, lambda: world.now)


def warm(world, author="star"):
    return world.cache.authors.load([author]).get(author)


def shown(tweets):
    return union(tweets.runs(STAR, 60)).ids


def test_what_one_read_found_no_later_read_misses():
    """However many ids each asks for: else a page would lack what the mark above it names as seen."""
    world = World()
    world.promote("star")
    tweets = world.celebrity_tweets(world.cache, world.builder)
    tweets.runs(STAR, None)
    said = world.say("star").tweet_id
    world.deliver(0)
    found = set()
    for count in (60, None, 9, 90):
        (run,) = tweets.runs(STAR, count)
        assert found <= {*run.ids}
        found = {*run.ids}
    world.wait()
    assert [run.ids for run in tweets.runs(STAR, 60)] == [[said]]


def test_a_celebrity_whose_newest_tweets_are_all_deleted_is_warm(world):
    """The database has nothing above a floor, and more below; the page that finds that has the list built."""
    asked = []
    world.database.ids = lambda below, _: asked.append(below) or {each: Run([], "5" * 19) for each in below}
    tweets = world.celebrity_tweets(world.cache, world.builder)
    for _ in range(2):
        assert union(tweets.runs(STAR, 60)).floor == "5" * 19
        world.wait()
    assert asked == [{"star": "9" * 19}] * 2  # for the list, and for the page


def test_many_readers_of_a_cold_celebrity_cost_one_read_of_the_list_and_none_waits_for_it(world):
    """All of a process at once, as after a failover."""
    database = SlowDatabase(world.database, lambda count: count == CAP)
    tweets = process(world, database)
    with ThreadPoolExecutor(READERS) as threads, deadlines.within(30):
        pages = [threads.submit(shown, tweets) for _ in range(3 * READERS)]
        assert {*map(tuple, (page.result(30) for page in pages))} == {(*world.database.said,)}
    assert not warm(world)
    database.may_answer.set()
    eventually(lambda: warm(world))
    assert sorted(database.asked) == [CAP, 60]


def test_a_list_that_takes_longer_to_read_than_a_request_may_is_kept(world):
    """The requests hear that it takes too long; a later one finds it."""
    database = SlowDatabase(world.database, lambda _: True)
    tweets = process(world, database)
    for _ in range(3):
        with deadlines.within(0.05), pytest.raises(DeadlineError):
            tweets.runs(STAR, 60)
    database.may_answer.set()
    eventually(lambda: warm(world))
    assert database.asked.count(CAP) == 1


def test_while_another_process_builds_the_list_no_page_lacks_what_that_one_showed(world):
    """The index may lag, and what was read of it is held for a second; a process reads it once in that."""
    world.cache.authors.begin("star")
    tweets = world.celebrity_tweets(world.cache, world.builder)
    shown(tweets)
    new = world.say("star").tweet_id
    world.deliver(0)
    queries = world.database.queries
    assert shown(tweets)[0] == new
    assert world.database.queries == queries


def test_a_list_that_cannot_be_built_is_tried_once_a_second(world):
    """Each page would bring a thread, and a call of Redis for each such celebrity."""
    tries = []
    world.cache.authors.begin("star")
    world.nodes.before = lambda name, _keys: name == "begin" and tries.append(name)
    tweets = world.celebrity_tweets(world.cache, world.builder)
    for seconds in (0, 0.5, 0.6):
        world.now += seconds
        for _ in range(3):
            tweets.runs(STAR, 60)
    assert len(tries) == 2


@pytest.mark.parametrize("step", ["begin", "commit"])
def test_a_node_that_refuses_writes_keeps_no_list_on_another_from_being_built(world, step):
    """They are built together."""
    for author in ("moon", "sun"):
        world.promote(author)

    def refuse(name, keys):
        if name == step and keys[0] == layout.author_timeline("star"):
            raise RedisAwayError("refused")

    world.nodes.before = refuse
    tweets = world.celebrity_tweets(world.cache, world.builder)
    tweets.runs(Shown.of(["moon", "star", "sun"]), 60)
    assert [each for each in ("moon", "star", "sun") if warm(world, each)] == ["moon", "sun"]
