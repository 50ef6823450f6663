"""The rules, without any store."""

import pytest

from contracts.profiles import DeletedAccountError, NoProfileError
from follow_service.follows import (
    Edge,
    FollowerFullError,
    FollowingFullError,
    Outcome,
    SelfFollowError,
    UnknownRequestError,
    accept,
    decline,
    follow,
    unfollow,
)
from follow_service.profiles import UnknownUserError, save

CAP = 2
EDGE = Edge("alice", "bob")


@pytest.fixture
def bob(memory):
    """Let Alice, Carol and Bob join, and Bob turn private or public when he is told."""

    def turn(private):
        save(memory, "bob", "Bob", private, 1)

    for name in ("alice", "carol"):
        save(memory, name, name, None, 1)

    turn(private=False)
    return turn


def test_nobody_follows_themselves():
    """An edge from a person to themselves cannot even be made."""
    with pytest.raises(SelfFollowError, match="alice"):
        Edge("alice", "alice")


def test_only_people_with_a_profile_can_be_followed(memory):
    """An unknown user is an error, and leaves no row."""
    save(memory, "alice", "Alice", None, 1)
    with pytest.raises(UnknownUserError, match="nobody"):
        follow(memory, Edge("alice", "nobody"), 1, CAP)
    assert not memory.edges


def test_nobody_follows_a_deleted_account_and_it_follows_nobody(memory, bob):  # noqa: ARG001
    """To others it is nobody; it itself is told that it is deleted."""
    save(memory, "alice", "Alice", None, 1)
    memory.delete_account("bob", 2)
    with pytest.raises(UnknownUserError, match="bob"):
        follow(memory, EDGE, 3, CAP)
    with pytest.raises(DeletedAccountError, match="bob"):
        follow(memory, Edge("bob", "alice"), 3, CAP)
    assert not memory.edges


def test_who_has_no_profile_neither_follows_nor_asks_nor_lets_in_nor_is_let_in(memory, bob):
    """Others would see nobody; what was asked before profiles were needed ends nowhere."""
    for private in (False, True):
        bob(private=private)
        with pytest.raises(NoProfileError, match="profile"):
            follow(memory, Edge("dave", "bob"), 1, CAP)
    for edge, error in ((Edge("bob", "dave"), NoProfileError), (Edge("dave", "bob"), UnknownRequestError)):
        memory.request(edge, 1)
        with pytest.raises(error):
            accept(memory, edge, 2, CAP)
    assert not memory.edges


def test_who_accepts_is_told_first_what_they_lack_themselves(memory):
    """A profile, whether or not there is a request; so a client sends its user to make one."""
    memory.delete_account("bob", 1)
    for caller, error in (("dave", NoProfileError), ("bob", DeletedAccountError)):
        with pytest.raises(error):
            accept(memory, Edge("alice", caller), 2, CAP)


def test_a_private_account_is_asked_and_lets_in_whom_it_likes(memory, bob):
    """The request moves to the edges on accept, and is gone on decline; both may be repeated."""
    bob(private=True)
    for follower in ("alice", "carol"):
        for now in (1, 2):
            assert follow(memory, Edge(follower, "bob"), now, CAP) is Outcome.REQUESTED
    assert (memory.asked, memory.edges) == ({EDGE: 1, Edge("carol", "bob"): 1}, {})
    for now in (3, 4):
        accept(memory, EDGE, now, CAP)
        decline(memory, Edge("carol", "bob"))
    assert (memory.asked, memory.edges) == ({}, {EDGE: 3})
    assert follow(memory, EDGE, 5, CAP) is Outcome.FOLLOWING
    with pytest.raises(UnknownRequestError, match="carol"):
        accept(memory, Edge("carol", "bob"), 6, CAP)


def test_a_follow_that_is_there_stays_when_the_account_turns_private(memory, bob):
    """Only who comes later is asked to wait."""
    follow(memory, EDGE, 1, CAP)
    bob(private=True)
    assert follow(memory, EDGE, 2, CAP) is Outcome.FOLLOWING
    assert (memory.asked, memory.edges) == ({}, {EDGE: 1})


def test_a_request_waits_until_it_is_asked_again_when_the_account_turns_public(memory, bob):
    """The follow then takes the request with it."""
    bob(private=True)
    follow(memory, EDGE, 1, CAP)
    bob(private=False)
    assert (memory.asked, memory.edges) == ({EDGE: 1}, {})
    assert follow(memory, EDGE, 2, CAP) is Outcome.FOLLOWING
    assert (memory.asked, memory.edges) == ({}, {EDGE: 2})


def test_an_unfollow_takes_a_request_back(memory, bob):
    """And whoever would accept it is told."""
    bob(private=True)
    follow(memory, EDGE, 1, CAP)
    for _ in range(2):
        unfollow(memory, EDGE)
    with pytest.raises(UnknownRequestError, match="alice"):
        accept(memory, EDGE, 2, CAP)
    assert not memory.edges


def test_at_the_cap_nobody_new_is_followed_and_all_who_are_followed_stay(memory):
    """The repeat of a follow is no new one; after an unfollow there is room again."""
    for followee in ("alice", "bob", "carol", "dave", "erin"):
        save(memory, followee, followee, followee == "erin", 1)
    for followee in ("bob", "carol", "bob"):
        follow(memory, Edge("alice", followee), 1, CAP)
    for followee in ("dave", "erin"):
        with pytest.raises(FollowingFullError, match="2 accounts already"):
            follow(memory, Edge("alice", followee), 2, CAP)
    unfollow(memory, EDGE)
    follow(memory, Edge("alice", "dave"), 3, CAP)
    assert set(memory.edges) == {Edge("alice", "carol"), Edge("alice", "dave")}


def test_requests_are_no_way_around_the_cap(memory):
    """Whoever is at the cap when they are accepted waits, and their request with them."""
    save(memory, "alice", "Alice", None, 1)
    for followee in ("carol", "dave", "erin"):
        save(memory, followee, followee, True, 1)
        follow(memory, Edge("alice", followee), 1, CAP)
    for followee in ("carol", "dave"):
        accept(memory, Edge("alice", followee), 2, CAP)
    with pytest.raises(FollowerFullError, match="alice"):
        accept(memory, Edge("alice", "erin"), 3, CAP)
    accept(memory, Edge("alice", "dave"), 3, CAP)
    assert memory.asked == {Edge("alice", "erin"): 1}


def test_deleted_accounts_neither_let_in_nor_come_in(memory, bob):
    """A request of one, or to one, ends nowhere."""
    bob(private=True)
    for follower in ("alice", "carol"):
        follow(memory, Edge(follower, "bob"), 1, CAP)
    memory.delete_account("carol", 2)
    with pytest.raises(UnknownRequestError, match="carol"):
        accept(memory, Edge("carol", "bob"), 3, CAP)
    memory.delete_account("bob", 4)
    with pytest.raises(DeletedAccountError, match="bob"):
        accept(memory, EDGE, 5, CAP)
    assert not memory.edges
