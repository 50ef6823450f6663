"""The rules, without any store."""

import itertools
from contextlib import suppress

import pytest

from murmuration_edge.texts import UnfitTextError
from murmuration_runtime.errors import StoreAwayError
from tweet_service.posting import BadKeyError, DeletedTweetError, ReusedKeyError, post, post_once
from tweet_service.tweets import Tweet

from .memory import MemoryStore


@pytest.mark.parametrize("text", ["", " \n", "x" * 281, "\u200b", "\u202eolleh", "a\x00b", "x\u0301" * 5_000])
def test_a_text_that_others_cannot_be_shown_is_refused(memory, text):
    """However it is posted, and nothing is written."""
    for say in (lambda: post(memory, "alice", text, ids_from(1)), lambda: once(memory, text)):
        with pytest.raises(UnfitTextError, match="text: "):
            say()
    assert not memory.rows
    assert not memory.claims


def test_what_is_kept_is_what_is_answered(memory):
    """In one way to write it, whichever came; its lines stay."""
    said = post(memory, "alice", "Zoe\u0301\nwas here ", ids_from(1))
    assert said.text == memory.find("1").tweet.text == "Zo\u00e9\nwas here "


def test_a_key_knows_its_text_however_it_is_written(memory):
    """A repeat may come from a device that writes accents in another way."""
    assert once(memory, "Zoe\u0301") == once(memory, "Zo\u00e9")


def test_an_id_that_is_taken_is_never_overwritten(memory):
    """Two workers may draw the same id; the second tweet gets the next one."""
    ids = iter([("1", 5), ("1", 5), ("2", 6)])
    first = post(memory, "alice", "one", lambda: next(ids))
    second = post(memory, "bob", "two", lambda: next(ids))
    assert (first.tweet_id, second.tweet_id) == ("1", "2")
    assert memory.find("1").tweet.text == "one"


def test_a_write_that_meets_its_own_first_try_is_one_tweet(memory):
    """The answer was lost on the way, and the store's client sent the request again."""

    def add_twice(tweet):
        MemoryStore.add(memory, tweet)
        MemoryStore.add(memory, tweet)

    memory.add = add_twice
    assert post(memory, "alice", "hello", ids_from(1)).tweet_id == "1"
    assert len(memory.rows) == 1


def once(store, text):
    return post_once(store, "alice", text, "key", ids_from(1))


def ids_from(first):
    numbers = itertools.count(first)
    return lambda: (str(n := next(numbers)), n)


def test_a_key_gives_one_tweet_however_often_it_is_sent(memory):
    """The key stands for that tweet."""
    first = post_once(memory, "alice", "hello", "key", ids_from(1))
    assert post_once(memory, "alice", "hello", "key", ids_from(5)) == first
    assert len(memory.rows) == 1


def test_a_crash_after_the_claim_ends_in_the_claimed_tweet(memory):
    """The retry finds the claim, and writes what it promised."""

    def crash(_):
        raise StoreAwayError("no route")

    add, memory.add = memory.add, crash
    with pytest.raises(StoreAwayError):
        post_once(memory, "alice", "hello", "key", ids_from(1))
    memory.add = add
    assert post_once(memory, "alice", "hello", "key", ids_from(5)).tweet_id == "1"


def test_a_key_with_another_text_is_refused(memory):
    """Silently giving the first tweet back would lose the second."""
    post_once(memory, "alice", "hello", "key", ids_from(1))
    with pytest.raises(ReusedKeyError, match="new key"):
        post_once(memory, "alice", "goodbye", "key", ids_from(5))


def test_keys_are_their_authors_own(memory):
    """Two people may use the same key."""
    one = post_once(memory, "alice", "hello", "key", ids_from(1))
    two = post_once(memory, "bob", "hello", "key", ids_from(5))
    assert one.tweet_id != two.tweet_id


def test_a_claim_on_somebody_elses_id_is_given_back(memory):
    """The tweet that is there stays; the claim moves to another id."""
    memory.add(Tweet("1", "bob", "mine", 1))
    tweet = post_once(memory, "alice", "hello", "key", ids_from(1))
    assert tweet.tweet_id == "2"
    assert memory.rows["1"].tweet.author_id == "bob"
    assert post_once(memory, "alice", "hello", "key", ids_from(5)) == tweet


def test_a_key_whose_tweet_was_deleted_is_refused_and_writes_nothing(memory):
    """It does not say that the tweet is there, and does not bring it back."""
    tweet = post_once(memory, "alice", "hello", "key", ids_from(1))
    memory.delete(tweet.tweet_id, 2)
    with pytest.raises(DeletedTweetError, match=tweet.tweet_id):
        post_once(memory, "alice", "hello", "key", ids_from(5))
    with pytest.raises(ReusedKeyError):
        post_once(memory, "alice", "goodbye", "key", ids_from(5))
    assert [*memory.rows] == [tweet.tweet_id]


def test_a_deleted_tweet_of_somebody_else_is_not_this_one(memory):
    """Its text is gone, so its author and its time say whose the id is."""
    memory.add(Tweet("1", "bob", "mine", 1))
    memory.delete("1", 2)
    assert post_once(memory, "alice", "hello", "key", ids_from(1)).tweet_id == "2"
    assert memory.rows["1"].tweet.author_id == "bob"


@pytest.mark.parametrize("key", ["", " ", "a b", "é", "x" * 256])
def test_a_key_that_is_none_is_refused(memory, key):
    """And nothing is claimed under it."""
    with pytest.raises(BadKeyError, match="255"):
        post_once(memory, "alice", "hello", key, ids_from(1))
    assert not memory.claims


class Interrupted:
    """A store before whose nth question, or after it, something happens."""

    def __init__(self, store, at, happens, *, before):
        self._store, self._left, self._happens, self._before = store, at, happens, before

    def __getattr__(self, name):
        def ask(*arguments):
            self._left -= 1
            if self._left == 0 and self._before:
                self._happens()
            answer = getattr(self._store, name)(*arguments)
            if self._left == 0 and not self._before:
                self._happens()
            return answer

        return ask


def die():
    raise StoreAwayError("killed")


@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("at", [1, 2, 3, 4])
@pytest.mark.parametrize("taken", [False, True])
def test_a_retry_at_any_moment_is_the_same_tweet(memory, at, before, taken):
    """Also where the id that the key claimed first turns out to be somebody else's."""
    if taken:
        memory.add(Tweet("1", "bob", "mine", 1))
    ids, retried = ids_from(1), []
    store = Interrupted(
        memory, at, lambda: retried.append(post_once(memory, "alice", "hello", "key", ids)), before=before
    )
    answered = post_once(store, "alice", "hello", "key", ids)
    retried.append(post_once(memory, "alice", "hello", "key", ids))
    assert set(retried) == {answered}
    assert [kept.tweet for kept in memory.rows.values() if kept.tweet.author_id == "alice"] == [answered]


@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("at", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("taken", [False, True])
def test_a_death_at_any_moment_leaves_one_tweet_to_the_retries(memory, at, before, taken):
    """Whatever was written before it."""
    if taken:
        memory.add(Tweet("1", "bob", "mine", 1))
    ids = ids_from(1)
    with suppress(StoreAwayError):
        post_once(Interrupted(memory, at, die, before=before), "alice", "hello", "key", ids)
    first, second = (post_once(memory, "alice", "hello", "key", ids) for _ in range(2))
    assert first == second
    assert [kept.tweet for kept in memory.rows.values() if kept.tweet.author_id == "alice"] == [first]
