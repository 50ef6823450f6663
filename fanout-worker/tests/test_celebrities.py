"""Celebrities: whose tweets are pushed, from which one on, and that neither beginning nor ending loses any."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.ids import first_id
from fanout_worker.demotion import StillCelebrityError, demote
from murmuration_runtime.errors import StoreAwayError
from murmuration_timelines import reset_timelines
from murmuration_timelines.celebrities import Author

from .memory import Memory

NOW = 1_700_000_000_000
AHEAD = 20
FANS = [f"fan-{n}" for n in range(5)]


def star(followers_count=10, since=None, until=None):
    """Bob, with warm fans."""
    memory = Memory()
    memory.edges = {(fan, "bob") for fan in FANS}
    memory.authors["bob"] = Author(followers_count, since, until)
    for user in ("bob", *FANS):
        memory.warm(user, followees=["bob"])
    memory.warm_author("bob")
    return memory


def deliveries(memory, threshold=5, **more):
    return memory.deliveries(threshold, AHEAD, now=lambda: NOW, **more)


def demoted(memory, until="until", threshold=11):
    def refresh(followers):
        for follower in followers:
            deliveries(memory, threshold).refresh_followee("bob", [follower])

    return demote("bob", memory, memory.followers, refresh, threshold=threshold, until=until)


def test_promotion_lies_ahead_and_loses_nothing_at_the_exact_id():
    """The tweet that promotes and all below the id are pushed; from it on the author's own timeline has them."""
    memory = star()
    since = int(first_id(NOW + AHEAD * 1000))
    said = [first_id(NOW), str(since - 1), str(since), str(since + 1)]
    for tweet_id in said:
        deliveries(memory).fan_out(tweet_id, "bob")
    assert memory.authors["bob"].since == str(since)
    for fan in FANS:
        assert memory.ids(fan) == [said[1], said[0], "0"]
    assert memory.author_ids("bob") == memory.ids("bob") == [*reversed(said), "0"]
    assert memory.recent("bob") == {*said}


def test_two_workers_promote_once():
    """The second finds an id that lies ahead as well."""
    memory = star()
    memory.meanwhile = lambda call: call == "promote" and memory.authors.update(bob=Author(10, "5"))
    deliveries(memory).fan_out(first_id(NOW), "bob")
    assert memory.authors["bob"].since == "5"
    assert memory.ids("fan-0") == [first_id(NOW), "0"]


def test_who_has_a_follower_too_few_is_an_author_like_others():
    """The followers that the tweet found are counted, not what anybody thinks they are."""
    memory = star()
    deliveries(memory, threshold=len(FANS) + 1).fan_out(first_id(NOW), "bob")
    assert memory.authors["bob"].since is None


def test_who_is_not_known_as_a_celebrity_is_pushed_without_a_look():
    """The list of them may lag: to push too much is harmless, and no ordinary tweet costs a read of its author."""
    memory = star(since="5")
    deliveries(memory, may_be_celebrity=lambda _: False).fan_out(first_id(NOW), "bob")
    assert memory.ids("fan-0") == [first_id(NOW), "0"]
    assert ("author", "bob") not in memory.asked
    assert memory.authors["bob"].since == "5"


@pytest.mark.parametrize(
    ("since", "until", "is_read"),
    [(first_id(NOW), None, False), (first_id(NOW + 1), None, True), (first_id(NOW - 1), first_id(NOW), True)],
    ids=["celebrity", "promoted, and not yet known to all", "being demoted"],
)
def test_what_a_celebrity_said_is_not_read_for_those_who_follow_them(since, until, is_read):
    """Readers merge it; only while some may not yet, or no longer, the list must have it."""
    memory = star(since=since, until=until)
    memory.said["bob"] = ["1700000000000000001"]
    deliveries(memory).refresh_followee("bob", ["fan-0"])
    assert (("latest", "bob") in memory.asked, memory.ids("fan-0")) == (is_read, [*memory.said["bob"] * is_read, "0"])
    assert "bob" in memory.followees("fan-0")


def test_a_demotion_brings_everybody_what_was_not_pushed():
    """From the recents and the index, whichever has it; afterwards the author is like any other."""
    memory = star(since="1700000000000000001")
    reset_timelines.of_user(memory.nodes, "fan-4")
    ids = [f"170000000000000000{n}" for n in range(1, 4)]
    memory.said["bob"] = [ids[1], ids[0]]
    memory.timelines.add_recent("bob", ids[2])
    assert demoted(memory) == len(FANS)
    assert all(memory.ids(fan) == [*reversed(ids), "0"] for fan in FANS[:4])
    assert memory.ids("fan-4") == []
    assert memory.authors["bob"] == Author(10)


@pytest.mark.parametrize("author", [Author(11, since="5"), Author(11, since="5", until="6")])
def test_who_would_be_promoted_again_is_not_demoted(author):
    """Nothing is begun, and the refusal says what to do."""
    memory = star()
    memory.authors["bob"] = author
    with pytest.raises(StillCelebrityError, match=r"bob has 11 followers.*CELEBRITY_THRESHOLD is 11"):
        demoted(memory)
    assert memory.authors["bob"] == author


def test_a_demotion_of_nobody_says_so():
    """Also when another one has just ended."""
    memory = star()
    assert demoted(memory) is None
    assert memory.authors["bob"] == Author(10)


@settings(deadline=None)
@given(st.integers(0, 40))
def test_a_demotion_that_dies_anywhere_loses_nothing_and_the_next_one_ends_it(steps):
    """Until it has ended, readers merge; a tweet that comes between is pushed."""
    memory = star(since="1700000000000000001")
    memory.timelines.add_recent("bob", "1700000000000000002")
    memory.faults = iter([False] * steps + [True])
    try:
        demoted(memory)
    except StoreAwayError:
        assert memory.authors["bob"].since
    memory.faults = iter(())
    deliveries(memory, threshold=11).fan_out("1700000000000000003", "bob")
    demoted(memory)
    assert memory.authors["bob"] == Author(10)
    wanted = ["1700000000000000003", "1700000000000000002", "0"]
    assert all(memory.ids(fan) == wanted for fan in FANS)


@pytest.mark.parametrize("looked", [False, True])
def test_a_demotion_in_the_middle_of_a_tweet_loses_nothing(looked):
    """Before its worker looks the author up: it is pushed. After: it was remembered, and so the demotion merges it."""
    memory = star(since="1700000000000000001")
    tweet = "1700000000000000002"
    look = memory.author

    def author(user_id):
        memory.author = look
        found = look(user_id) if looked else None
        demoted(memory)
        return found or look(user_id)

    memory.author = author
    deliveries(memory, threshold=11).fan_out(tweet, "bob")
    assert memory.authors["bob"] == Author(10)
    assert all(memory.ids(fan) == [tweet, "0"] for fan in FANS)
