"""Erasure, whatever dies, runs twice, comes late or lags behind."""

from contextlib import suppress

from hypothesis import given, settings
from hypothesis import strategies as st

from murmuration_runtime.errors import StoreAwayError
from murmuration_runtime.looks import AGAIN_MS
from tweet_service.erasure import Erasure
from tweet_service.tweets import Tweet

from .memory import MemoryAccounts, MemoryStore

TOKEN_MS, LAG_MS = 60_000, 5_000
SETTLED_MS = TOKEN_MS + LAG_MS


class World:
    """Tables whose index by author lags, and a clock."""

    def __init__(self):
        self.now = 0
        self.fails_in = None
        self.accounts, self.tweets = MemoryAccounts(), MemoryStore()
        self.ids = iter(range(10**18, 2 * 10**18))
        self.written = {}

    def post(self, author):
        tweet = Tweet(str(next(self.ids)), author, "hello", self.now)
        self.tweets.add(tweet)
        self.written[tweet.tweet_id] = self.now

    def erasure(self):
        return Erasure(self.accounts, self, lambda: self.now, self.pace, SETTLED_MS).looks()

    def pace(self):
        """Before each request: time goes by, and the store may be away."""
        self.now += 1
        if self.fails_in is not None:
            self.fails_in -= 1
            if self.fails_in < 0:
                self.fails_in = None
                raise StoreAwayError("no route")

    def undeleted(self, author, below):
        found, below = self.tweets.undeleted(author, below)
        return [i for i in found if self.written[i] + LAG_MS <= self.now], below

    def delete(self, tweet_id, now):
        self.tweets.delete(tweet_id, now)

    def left(self, author):
        return [i for i, kept in self.tweets.rows.items() if kept.tweet.author_id == author and not kept.deleted]


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("post"), st.sampled_from("ab")),
        st.tuples(st.just("delete"), st.sampled_from("ab")),
        st.tuples(st.just("wait"), st.integers(1, TOKEN_MS)),
        st.tuples(st.just("turn"), st.integers(0, 1)),
        st.tuples(st.just("restart"), st.integers(0, 1)),
        st.tuples(st.just("fail in"), st.integers(0, 5)),
    ),
    max_size=60,
)


@given(STEPS)
@settings(max_examples=500, deadline=None)
def test_an_account_leaves_the_list_only_without_tweets_and_leaves_it_in_the_end(steps):
    """Two erasers, restarts, a store that is away now and then, tweets with a token that still lived."""
    world = World()
    erasers = [world.erasure(), world.erasure()]
    for step, what in steps:
        if step == "post" and world.now < world.accounts.deleted.get(what, world.now) + TOKEN_MS:
            world.post(what)
        elif step == "delete" and what not in world.accounts.deleted:
            world.accounts.delete(what, world.now)
        elif step == "wait":
            world.now += what
        elif step == "turn":
            with suppress(StoreAwayError):
                erasers[what].turn()
        elif step == "restart":
            erasers[what] = world.erasure()
        elif step == "fail in":
            world.fails_in = what
        _nothing_is_left_behind(world)
    world.fails_in = None
    world.now += SETTLED_MS
    for _ in range(200):
        erasers[0].turn()
        _nothing_is_left_behind(world)
        world.now += AGAIN_MS // 2
    assert not world.accounts.list
    for author in set("ab") - world.accounts.deleted.keys():
        assert len(world.left(author)) == sum(k.tweet.author_id == author for k in world.tweets.rows.values())


def _nothing_is_left_behind(world):
    for author in world.accounts.deleted.keys() - world.accounts.list:
        assert world.left(author) == []


def test_a_look_that_began_too_early_is_not_the_last():
    """A tweet that came while it was under way stands above where it is."""
    world = World()
    for _ in range(4):
        world.post("a")
    world.accounts.delete("a", world.now)
    world.now += LAG_MS
    erasure = world.erasure()
    while erasure.turn().unfinished:
        pass
    world.now += AGAIN_MS
    assert erasure.turn().unfinished
    world.post("a")
    world.now += SETTLED_MS
    while erasure.turn().unfinished:
        pass
    assert (len(world.left("a")), len(world.accounts.due())) == (1, 1)


def test_a_look_that_finds_something_is_not_the_last():
    """Where there was one, the index may be about to show another."""
    world = World()
    world.post("a")
    world.accounts.delete("a", world.now)
    world.now += SETTLED_MS
    erasure = world.erasure()
    assert [*erasure.turn().done.values()] == [1]
    world.now += AGAIN_MS
    assert [due.author_id for due in erasure.turn().finished] == ["a"]


def test_one_with_very_many_tweets_keeps_nobody_waiting():
    """A page of each in turn."""
    world = World()
    for author, count in (("a", 100), ("b", 2)):
        for _ in range(count):
            world.post(author)
        world.accounts.delete(author, world.now)
    world.now += LAG_MS
    turn = world.erasure().turn()
    assert ({due.author_id: tweets for due, tweets in turn.done.items()}, turn.unfinished) == ({"a": 2, "b": 2}, True)
    assert world.left("b") == []


def test_an_account_that_was_looked_at_rests():
    """Due for an hour, it is not read all the time."""
    world = World()
    world.post("a")
    world.accounts.delete("a", world.now)
    world.now += LAG_MS
    erasure = world.erasure()
    erasure.turn()
    world.post("a")
    world.now += LAG_MS
    assert erasure.turn().done == {}
    world.now += AGAIN_MS
    assert [*erasure.turn().done.values()] == [1]
