"""The rules of following, on tables in memory."""

import pytest

from contracts.profiles import DeletedAccountError, NoProfileError
from follow_service.blocks import block, unblock
from follow_service.follows import (
    Edge,
    FollowBlockedError,
    FollowerFullError,
    FollowingFullError,
    Outcome,
    SelfFollowError,
    UnknownRequestError,
    accept,
    decline,
    follow,
    remove_follower,
    unfollow,
)
from follow_service.profiles import UnknownUserError, save

from .rows import follows, requests

CAP = 2
EDGE = Edge("alice", "bob")


@pytest.fixture
def store(graph):
    return graph.follows


@pytest.fixture
def bob(graph):
    """Let Alice, Carol and Bob join, and Bob turn private or public when he is told."""

    def turn(*, private):
        save(graph.profiles, "bob", "Bob", private, None, 1)

    for name in ("alice", "carol"):
        save(graph.profiles, name, name, None, None, 1)
    turn(private=False)
    return turn


def since(aws, table="followers", when="followed_at"):
    return {row["follower_id"]["S"]: int(row[when]["N"]) for row in aws.items(table)}


def test_nobody_follows_themselves():
    """An edge from a person to themselves cannot even be made."""
    with pytest.raises(SelfFollowError, match="alice"):
        Edge("alice", "alice")


@pytest.mark.usefixtures("bob")
def test_only_people_with_a_profile_can_be_followed(store, aws):
    """An unknown user is an error, and leaves no row."""
    with pytest.raises(UnknownUserError, match="nobody"):
        follow(store, Edge("alice", "nobody"), 1, CAP)
    assert not follows(aws)


@pytest.mark.usefixtures("bob")
def test_nobody_follows_a_deleted_account_and_it_follows_nobody(store, graph, aws):
    """To others it is nobody; it itself is told that it is deleted."""
    graph.profiles.delete("bob", 2)
    with pytest.raises(UnknownUserError, match="bob"):
        follow(store, EDGE, 3, CAP)
    with pytest.raises(DeletedAccountError, match="bob"):
        follow(store, Edge("bob", "alice"), 3, CAP)
    assert not follows(aws)


def test_who_has_no_profile_neither_follows_nor_asks_nor_lets_in_nor_is_let_in(store, bob, aws):
    """Others would see nobody; what was asked before profiles were needed ends nowhere."""
    for private in (False, True):
        bob(private=private)
        with pytest.raises(NoProfileError, match="profile"):
            follow(store, Edge("dave", "bob"), 1, CAP)
    for edge, error in ((Edge("bob", "dave"), NoProfileError), (Edge("dave", "bob"), UnknownRequestError)):
        store.request(edge, 1)
        with pytest.raises(error):
            accept(store, edge, 2, CAP)
    assert not follows(aws)


@pytest.mark.usefixtures("bob")
def test_who_accepts_is_told_first_what_they_lack_themselves(store, graph):
    """A profile, whether or not there is a request; so a client sends its user to make one."""
    graph.profiles.delete("bob", 1)
    for caller, error in (("dave", NoProfileError), ("bob", DeletedAccountError)):
        with pytest.raises(error):
            accept(store, Edge("alice", caller), 2, CAP)


def test_a_private_account_is_asked_and_lets_in_whom_it_likes(store, bob, aws):
    """The request moves to the edges on accept, and is gone on decline; both may be repeated."""
    bob(private=True)
    for follower in ("alice", "carol"):
        for now in (1, 2):
            assert follow(store, Edge(follower, "bob"), now, CAP) is Outcome.REQUESTED
    assert (since(aws, "follow_requests", "requested_at"), follows(aws)) == ({"alice": 1, "carol": 1}, set())
    for now in (3, 4):
        accept(store, EDGE, now, CAP)
        decline(store, Edge("carol", "bob"))
    assert (aws.items("follow_requests"), since(aws)) == ([], {"alice": 3})
    assert follow(store, EDGE, 5, CAP) is Outcome.FOLLOWING
    with pytest.raises(UnknownRequestError, match="carol"):
        accept(store, Edge("carol", "bob"), 6, CAP)


def test_a_follow_that_is_there_stays_when_the_account_turns_private(store, bob, aws):
    """Only who comes later is asked to wait."""
    follow(store, EDGE, 1, CAP)
    bob(private=True)
    assert follow(store, EDGE, 2, CAP) is Outcome.FOLLOWING
    assert (requests(aws), since(aws)) == (set(), {"alice": 1})


def test_a_follow_of_an_account_that_turned_public_takes_the_request_with_it(store, bob, aws):
    """Until then the request waits."""
    bob(private=True)
    follow(store, EDGE, 1, CAP)
    bob(private=False)
    assert (requests(aws), follows(aws)) == ({("alice", "bob")}, set())
    assert follow(store, EDGE, 2, CAP) is Outcome.FOLLOWING
    assert (aws.items("follow_requests"), since(aws)) == ([], {"alice": 2})


def test_an_unfollow_takes_a_request_back(store, bob, aws):
    """And whoever would accept it is told."""
    bob(private=True)
    follow(store, EDGE, 1, CAP)
    for _ in range(2):
        unfollow(store, EDGE)
    with pytest.raises(UnknownRequestError, match="alice"):
        accept(store, EDGE, 2, CAP)
    assert not follows(aws)


def test_a_follower_who_is_removed_may_ask_again(store, bob, aws):
    """Removing takes the follow, and leaves the request of whoever only asks."""
    bob(private=True)
    for _ in range(2):
        follow(store, EDGE, 1, CAP)
        remove_follower(store, EDGE)
        assert requests(aws) == {("alice", "bob")}
        accept(store, EDGE, 2, CAP)
        remove_follower(store, EDGE)
        assert (requests(aws), follows(aws)) == (set(), set())


def test_what_an_accepted_request_leaves_counts_as_absent(store, bob, graph, aws):
    """A process that is killed between the two writes of accept leaves a row: every rule goes by it, and clears it."""
    bob(private=True)
    for again in (
        follow,
        lambda *_: accept(store, EDGE, 3, CAP),
        lambda *_: block(graph.blocks, graph.profiles, "bob", "alice", 3),
    ):
        unblock(graph.blocks, "bob", "alice")
        unfollow(store, EDGE)
        follow(store, EDGE, 1, CAP)
        assert store.accept(EDGE, 2)
        standing = store.standing(EDGE)
        assert (standing.followed, standing.requested, standing.left_over) == (True, False, True)
        again(store, EDGE, 3, CAP)
        remove_follower(store, EDGE)
        if again is follow:
            assert follow(store, EDGE, 4, CAP) is Outcome.REQUESTED
            assert since(aws, "follow_requests", "requested_at") == {"alice": 4}
        else:
            assert aws.items("follow_requests") == []


def test_what_is_cleared_late_is_not_what_was_asked_since(store, bob, aws):
    """Whoever accepted is slow: meanwhile the follower left and asked again."""
    bob(private=True)
    follow(store, EDGE, 1, CAP)
    assert store.accept(EDGE, 2)
    unfollow(store, EDGE)
    follow(store, EDGE, 3, CAP)
    store.clear(EDGE)
    assert requests(aws) == {("alice", "bob")}


def test_a_leftover_expires_by_itself(store, bob, aws):
    """A day later, by DynamoDB's own hand."""
    bob(private=True)
    follow(store, EDGE, aws.ms(), CAP)
    store.accept(EDGE, aws.ms())
    for hours, left in ((23, 1), (2, 0)):
        aws.sleep(hours * 3_600)
        aws.delete_expired()
        assert len(aws.items("follow_requests")) == left


def test_at_the_cap_nobody_new_is_followed_and_all_who_are_followed_stay(store, graph, aws, count):
    """The repeat of a follow is no new one; after an unfollow there is room again."""
    for followee in ("alice", "bob", "carol", "dave", "erin"):
        save(graph.profiles, followee, followee, followee == "erin", None, 1)
    for followee in ("bob", "carol"):
        follow(store, Edge("alice", followee), 1, CAP)
    count("alice", following=2)
    assert follow(store, EDGE, 2, CAP) is Outcome.FOLLOWING
    for followee in ("dave", "erin"):
        with pytest.raises(FollowingFullError, match="2 accounts already"):
            follow(store, Edge("alice", followee), 2, CAP)
    unfollow(store, EDGE)
    count("alice", following=-1)
    follow(store, Edge("alice", "dave"), 3, CAP)
    assert follows(aws) == {("alice", "carol"), ("alice", "dave")}


def test_requests_are_no_way_around_the_cap(store, graph, aws, count):
    """Whoever is at the cap when they are accepted waits, and their request with them."""
    save(graph.profiles, "alice", "Alice", None, None, 1)
    for followee in ("dave", "erin"):
        save(graph.profiles, followee, followee, True, None, 1)
        follow(store, Edge("alice", followee), 1, CAP)
    accept(store, Edge("alice", "dave"), 2, CAP)
    count("alice", following=2)
    with pytest.raises(FollowerFullError, match="alice"):
        accept(store, Edge("alice", "erin"), 3, CAP)
    accept(store, Edge("alice", "dave"), 3, CAP)
    assert requests(aws) == {("alice", "erin")}


def test_deleted_accounts_neither_let_in_nor_come_in(store, bob, graph, aws):
    """A request of one, or to one, ends nowhere."""
    bob(private=True)
    for follower in ("alice", "carol"):
        follow(store, Edge(follower, "bob"), 1, CAP)
    graph.profiles.delete("carol", 2)
    with pytest.raises(UnknownRequestError, match="carol"):
        accept(store, Edge("carol", "bob"), 3, CAP)
    graph.profiles.delete("bob", 4)
    with pytest.raises(DeletedAccountError, match="bob"):
        accept(store, EDGE, 5, CAP)
    assert not follows(aws)


@pytest.mark.parametrize("private", [True, False])
def test_a_block_that_comes_between_is_respected(store, bob, graph, aws, private):
    """Read before the block, written after it: nothing is written, and the answer is that of the block."""
    bob(private=private)
    for blocker, blocked, error in (("bob", "alice", UnknownUserError), ("alice", "bob", FollowBlockedError)):
        graph.blocks.block(blocker, blocked, 1)
        older = {"follower_id": {"S": "alice"}, "followee_id": {"S": "bob"}, "requested_at": {"N": "1"}}
        aws.put("follow_requests", older)  # a release that knew no blocks wrote it
        assert not store.add(EDGE, 2)
        assert not store.request(EDGE, 2)
        assert not store.accept(EDGE, 2)
        with pytest.raises(error, match="bob"):
            follow(store, EDGE, 2, CAP)
        with pytest.raises(UnknownRequestError):
            accept(store, EDGE, 2, CAP)
        store.withdraw(EDGE)
        graph.blocks.unblock(blocker, blocked)
    assert (follows(aws), requests(aws)) == (set(), set())
