"""Celebrities whose Redis node hangs or refuses writes: read once for all readers, whose own lists serve as always."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from itertools import count, islice
from types import SimpleNamespace

import pytest

from murmuration_runtime import deadlines
from murmuration_runtime.errors import RedisAwayError
from murmuration_runtime.redis_nodes import Nodes
from murmuration_runtime.settled_mark import SettledMark
from murmuration_testkit.redis_nodes import redis_cluster, redis_node
from murmuration_testkit.waiting import eventually
from murmuration_timelines import layout
from murmuration_timelines.fake import FakeNodes
from murmuration_timelines.merge import TOP
from murmuration_timelines.reader import TimelineReader
from murmuration_timelines.shown import Shown
from murmuration_timelines.writer import TimelineWriter
from timeline_service.authors import Authors
from timeline_service.background_work import BackgroundWork
from timeline_service.bodies import Bodies
from timeline_service.builder import Builder
from timeline_service.celebrity_reads import HELD_SECONDS, CelebrityReads
from timeline_service.celebrity_tweets import CelebrityTweets
from timeline_service.confirming import Confirming
from timeline_service.cursors import read_cursor
from timeline_service.page import Pages
from timeline_service.rebuild_slots import RebuildSlots

from .conftest import tweet
from .memory import MemoryDatabase

IMPATIENT_S = 0.5  # how long a test's client waits for a Redis that hangs
STARS = [f"star{n}" for n in range(6)]


@pytest.fixture
def clock():
    """A clock that only the test moves."""
    return SimpleNamespace(now=1_000.0)


@pytest.fixture
def database():
    database, numbers = MemoryDatabase(), count()

    def say(author):
        said = tweet(next(numbers), author)
        database.said[said.tweet_id] = said
        return said

    database.say = say
    return database


@pytest.fixture
def reads(database, clock):
    return CelebrityReads(database, lambda: clock.now)


def process(nodes, database, reads, clock):
    """A process of the service over these stores; `sources` is told of each page."""
    cache, authors = TimelineReader(nodes), Authors(database, database)
    builder = Builder(cache, authors, database, RebuildSlots(4, 0))

    def among(shown: Shown):
        return [star for star in STARS if star in shown]

    work = BackgroundWork("not built", lambda work: work())
    celebrity_tweets = CelebrityTweets(among, cache, builder, reads, lambda _: None, work, 9, lambda: clock.now)
    mark = SettledMark(lambda: 0, lambda: clock.now)
    mark.until = clock.now
    sources = []
    confirming = Confirming(mark, database, lambda: clock.now, lambda _: None)
    parts = cache, authors, database, builder, celebrity_tweets, Bodies(cache, database), lambda *_: None
    return Pages(*parts, sources.append, lambda: clock.now, confirming), sources


def paged(pages, user, limit=3):
    """Page from the top to the end."""
    found, cursor = [], TOP
    while True:
        page = pages.home(user, limit, cursor)
        found += page.tweets
        if page.next_cursor is None:
            return found
        cursor = read_cursor(page.next_cursor)


@pytest.mark.stack
def test_readers_whose_celebrities_are_on_a_master_that_hangs_are_served_from_the_others(database, reads, clock):
    """All pages to the end: deleted tweets do not show, new ones do, and more readers cost no more queries."""
    with redis_cluster() as cluster, closing(Nodes(cluster.url, IMPATIENT_S, IMPATIENT_S)) as nodes:
        hung = cluster.owner(layout.author_timeline(STARS[0]))
        silent = [star for star in STARS if cluster.owner(layout.author_timeline(star)) is hung]
        names = (f"reader{n}" for n in count())
        readers = [*islice((each for each in names if cluster.owner(layout.home_timeline(each)) is not hung), 8)]
        database.follows = {(reader, author) for reader in readers for author in (*STARS, "friend")}
        for author in (*STARS, "friend") * 2:
            database.say(author)
        pages, sources = process(nodes, database, reads, clock)
        for reader in readers:
            assert paged(pages, reader) == database.truth(reader)
        gone = database.say(STARS[0])
        database.deleted.add(gone.tweet_id)
        TimelineWriter(nodes).set_tombstone(gone.tweet_id)
        hung.pause()
        clock.now += HELD_SECONDS
        sources.clear()
        asked = []
        for reader in readers:
            before = database.queries
            assert paged(pages, reader) == database.truth(reader)
            asked.append(database.queries - before)
        assert {*sources} == {"cache"}
        assert asked == [2 * len(silent), *[0] * (len(readers) - 1)]  # the first page, and all further ones
        new = database.say(STARS[0])
        clock.now += HELD_SECONDS
        assert pages.home(readers[0], 1).tweets == [new]
        hung.resume()

        def asks_nobody():
            before, clock.now = database.queries, clock.now + HELD_SECONDS
            paged(pages, readers[0])
            return database.queries == before

        eventually(asks_nobody, True, within=30)
        TimelineWriter(nodes).insert_own(STARS[0], new.tweet_id)
        assert paged(pages, readers[0]) == database.truth(readers[0])


@contextmanager
def fake():
    """One that can be told to refuse whatever writes, and to take it again."""
    nodes = FakeNodes()

    def refuse(name, _keys):
        if name in {"begin", "fill"}:
            raise RedisAwayError("refused")

    def tell(*, refuses):
        nodes.before = refuse if refuses else lambda *_: None

    yield nodes, tell


@contextmanager
def real():
    """The same, for a replica that it lacks."""
    with redis_node() as node, closing(Nodes(node.url, IMPATIENT_S, IMPATIENT_S)) as nodes:
        yield nodes, lambda *, refuses: node.redis.config_set("min-replicas-to-write", int(refuses))


@pytest.mark.parametrize("redis", [fake, pytest.param(real, marks=pytest.mark.stack(shared=False))])
def test_a_redis_that_refuses_writes_serves_readers_whose_celebrity_is_cold(redis, database, reads, clock):
    """Their own lists are read as always: nobody's followees cost a query, and the celebrity one a second."""
    readers = [f"reader{n}" for n in range(3)]
    database.follows = {(reader, author) for reader in readers for author in ("friend", "other", "star0")}
    for author in ("friend", "star0", "other"):
        database.say(author)
    with redis() as (nodes, tell):
        pages, sources = process(nodes, database, reads, clock)
        for reader in readers:
            pages.home(reader, 9)
        for key in (layout.author_timeline("star0"), layout.author_shown("star0")):
            nodes.forget(key) if redis is fake else nodes.command("DEL", key)
        tell(refuses=True)
        for _ in range(2):
            clock.now += HELD_SECONDS
            sources.clear()
            queries = database.queries
            for reader in readers:
                assert pages.home(reader, 9).tweets == database.truth(reader)
            assert {*sources} == {"cache"}
            assert database.queries == queries + 1
        tell(refuses=False)
        clock.now += HELD_SECONDS
        pages.home(readers[0], 9)
        assert TimelineReader(nodes).authors.load(["star0"])


def test_a_celebrity_is_read_once_for_all_who_ask_at_the_same_time(reads, database):
    """Also if they follow others besides: only these are read in addition."""
    for star in STARS:
        database.say(star)
    may_answer, asked = threading.Event(), threading.Event()

    def wait(_):
        asked.set()
        may_answer.wait(30)

    database.after = wait
    with ThreadPoolExecutor(9) as threads:
        first = threads.submit(reads.runs, STARS[:3], 60)
        asked.wait(30)
        others = [threads.submit(reads.runs, STARS[n:4], 60) for n in (0, 1, 2, 3)]
        may_answer.set()
        assert [*first.result(30)] == STARS[:3]
        assert [len(each.result(30)) for each in others] == [4, 3, 2, 1]
    assert database.queries == 4


def test_what_is_held_is_a_second_old_at_most(reads, database, clock):
    """And is read again for whoever wants more of it."""
    database.say("star0")
    for count_, age, queries in ((60, 0, 1), (60, 0.9, 1), (9, 0, 1), (None, 0, 2), (60, 0.9, 2), (60, 0.2, 3)):
        clock.now += age
        reads.runs(["star0"], count_)
        assert database.queries == queries


def test_nobody_waits_for_anothers_read_for_longer_than_their_request_may(reads, database):
    may_answer, asked = threading.Event(), threading.Event()
    database.after = lambda _: (asked.set(), may_answer.wait(30))
    with ThreadPoolExecutor(1) as threads:
        first = threads.submit(reads.runs, ["star0"], 60)
        asked.wait(30)
        with deadlines.within(0.05), pytest.raises(deadlines.DeadlineError):
            reads.runs(["star0"], 60)
        may_answer.set()
        first.result(30)
