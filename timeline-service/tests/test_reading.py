"""The oracle: paging from the top to the end gives the truth, whatever the cache holds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from timeline_service.reading import Reading
from timeline_service.timeline import TOP, read_cursor

from .conftest import tweet
from .memory import MemoryArchive, MemoryCache

PEOPLE = ["alice", "bob", "carol"]


class World:
    """The tables, and a fan-out that has caught up with them."""

    def __init__(self):
        self.cache, self.archive = MemoryCache(), MemoryArchive()
        self.sources = []
        self.reading = Reading(self.cache, self.archive, self.sources.append)
        self._time = 0

    def say(self, author):
        self._time += 1
        said = tweet(self._time, author)
        self.archive.said[said.tweet_id] = said
        self.cache.recents.setdefault(author, []).append(said.tweet_id)
        self.cache.known.setdefault(said.tweet_id, said)
        for reader in [author, *(f for f, followee in self.archive.follows if followee == author)]:
            self.cache.arrive(reader, said.tweet_id)
        return said

    def delete(self, n):
        ids = sorted(self.archive.said)
        if ids:
            gone = ids[n % len(ids)]
            self.archive.deleted.add(gone)
            self.cache.known[gone] = None

    def follow(self, follower, followee):
        if follower != followee:
            self.archive.follows ^= {(follower, followee)}
            self.cache.cool(follower)

    def evict(self, user):
        self.cache.cool(user)

    def shorten(self, user, length):
        if user in self.cache.timelines:
            self.cache.shorten(user, length)

    def forget_bodies(self):
        self.cache.known.clear()

    def deliver_late(self, user, n):
        """A fan-out that read its followers before an unfollow, and writes after it."""
        ids = sorted(self.archive.said)
        if ids:
            self.cache.arrive(user, ids[n % len(ids)])

    def read(self, user, limit):
        assert self.paged(user, limit) == self.archive.truth(user)

    def paged(self, user, limit):
        """Page from the top to the end; only the last page may be short."""
        pages, cursor = [], TOP
        while True:
            page = self.reading.home(user, limit, cursor)
            pages.append(page.tweets)
            if page.next_cursor is None:
                break
            assert len(page.tweets) == limit
            cursor = read_cursor(page.next_cursor)
        return [one for page in pages for one in page]


person = st.sampled_from(PEOPLE)
steps = st.one_of(
    st.tuples(st.just(World.say), person),
    st.tuples(st.just(World.follow), person, person),
    st.tuples(st.just(World.delete), st.integers(0, 50)),
    st.tuples(st.just(World.read), person, st.integers(1, 5)),
    st.tuples(st.just(World.evict), person),
    st.tuples(st.just(World.shorten), person, st.integers(1, 5)),
    st.tuples(st.just(World.forget_bodies)),
    st.tuples(st.just(World.deliver_late), person, st.integers(0, 50)),
)


@given(st.lists(steps, max_size=60), st.integers(1, 5))
def test_every_history_reads_as_the_truth(history, limit):
    """Follows, tweets, deletions, evictions, cut tails, lost bodies, late fan-outs: the pages are the truth."""
    world = World()
    for step, *arguments in history:
        step(world, *arguments)
    for user in PEOPLE:
        world.read(user, limit)


def test_a_warm_timeline_is_read_from_the_cache():
    """The second read finds what the first built."""
    world = World()
    world.say("alice")
    assert len(world.paged("alice", 20)) == 1
    assert len(world.paged("alice", 20)) == 1
    assert world.sources == ["rebuild", "cache"]


def test_without_a_cache_the_database_serves():
    """Slower, and the same pages."""
    world = World()
    world.archive.follows.add(("alice", "bob"))
    for n in range(7):
        world.say("bob" if n % 2 else "alice")
    world.cache.away = True
    assert world.paged("alice", 2) == world.archive.truth("alice")
    assert set(world.sources) == {"database"}


def test_a_tweet_that_arrives_during_a_rebuild_stays():
    """It was not in the database when the builder read, and is in the timeline after."""
    world = World()
    world.archive.on_followees = lambda: world.cache.arrive("alice", tweet(99, "alice").tweet_id)
    world.paged("alice", 20)
    late = tweet(99, "alice")
    world.archive.said[late.tweet_id] = late
    assert world.paged("alice", 20) == [late]
    assert world.sources == ["rebuild", "cache"]


def test_a_follow_that_changes_during_a_rebuild_begins_it_anew():
    """What the builder read before is not kept."""
    world = World()
    world.say("bob")
    world.archive.on_followees = lambda: world.follow("alice", "bob")
    assert world.paged("alice", 20) == world.archive.truth("alice") != []
    assert world.cache.timelines["alice"].following == {"alice", "bob"}


@pytest.mark.parametrize("before", [set(), {("alice", "bob")}])
def test_an_index_that_lags_is_corrected_by_the_notes(before):
    """The index of followees may not know of the latest follow or unfollow; the edges that were noted are looked at."""
    world = World()
    world.say("bob")
    world.archive.lagging = before
    world.archive.follows = {("alice", "bob")} - before
    world.cache.notes["alice"] = ["bob"]
    assert world.paged("alice", 20) == world.archive.truth("alice")


def test_a_second_reader_does_not_disturb_a_rebuild():
    """Both see the truth; the first one's work is kept."""
    world = World()
    world.say("alice")
    second = []
    world.archive.on_followees = lambda: second.extend(world.paged("alice", 20))
    assert world.paged("alice", 20) == second == world.archive.truth("alice")
    assert "alice" in world.cache.timelines


@pytest.mark.parametrize("limit", [1, 2, 200])
def test_somebody_new_has_an_empty_timeline(limit):
    """No tweets, no cursor, no error."""
    assert World().paged("nobody", limit) == []
