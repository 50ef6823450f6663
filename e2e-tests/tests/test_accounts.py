"""Accounts that turn private, and accounts that are deleted: who sees what, through every service."""

import pytest

from murmuration_testkit.people import Person, RefusedError
from murmuration_testkit.processes import kill, stopped
from murmuration_testkit.waiting import eventually, steadily


def test_a_private_account_is_read_by_whom_it_accepted():
    """A request shows nothing; accepted, it brings what was said before; the others go on seeing nothing."""
    alice, bob, carol = (Person(name).join() for name in ("Alice", "Bob", "Carol"))
    bob.turn(private=True)
    said = bob.tweet("among us")
    for reader in (alice, carol):
        reader.follow(bob)
    assert bob.requests() == {alice.user_id, carol.user_id}
    assert bob.edges("followers") == set()
    assert _status(alice, f"/v1/tweets/{said}") == 404
    assert _status(alice, f"/v1/users/{bob.user_id}/tweets") == 403
    bob.accept(alice)
    bob.decline(carol)
    assert (bob.requests(), bob.edges("followers")) == (set(), {alice.user_id})
    eventually(lambda: (alice.timeline(), bob.counts()), (["among us"], (1, 0)))
    assert alice.ask("GET", f"/v1/tweets/{said}")["text"] == "among us"
    steadily(lambda: (carol.timeline(), _status(carol, f"/v1/tweets/{said}")), ([], 404), during=1)


def test_a_request_that_was_taken_back_lets_nobody_in():
    """And may be made again."""
    alice, bob = Person("Alice").join(), Person("Bob").join()
    bob.turn(private=True)
    alice.follow(bob)
    alice.unfollow(bob)
    assert _status(bob, f"/v1/users/me/follow-requests/{alice.user_id}", "POST") == 404
    assert bob.edges("followers") == set()
    alice.follow(bob)
    bob.accept(alice)
    assert bob.edges("followers") == {alice.user_id}


def test_a_deleted_accounts_tweets_vanish_from_its_followers_timelines():
    """At once where they are asked for, within seconds from timelines and counts; also what was posted just then."""
    alice, bob, carol = (Person(name).join() for name in ("Alice", "Bob", "Carol"))
    for author in (bob, carol):
        alice.follow(author)
    said = [bob.tweet(f"{n}") for n in range(120)]
    carol.tweet("I stay")
    eventually(lambda: len(alice.timeline(200)), 121)
    for _ in range(2):
        bob.leave()
    users = f"/v1/users/{bob.user_id}"
    for path in (users, f"{users}/followers", f"{users}/tweets", f"/v1/tweets/{said[0]}"):
        assert (_status(alice, path), _status(bob, path)) == (404, 404)
    eventually(lambda: alice.timeline(200), ["I stay"])
    eventually(lambda: (alice.counts(), alice.edges("following")), ((0, 1), {carol.user_id}))
    eventually(lambda: _status(bob, "/v1/tweets", "POST", json={"text": "the token still lives"}), 403, within=2)
    kill("tweet-eraser")  # begun again, it looks at once, and not only after its pause
    eventually(lambda: alice.timeline(200), ["I stay"])
    assert alice.whole_timeline() == list(carol.said())


def test_an_erasure_that_was_interrupted_goes_on():
    """Killed again and again in the middle, it comes to its end."""
    alice, bob = Person("Alice").join(), Person("Bob").join()
    alice.follow(bob)
    with stopped("tweet-eraser"):
        for n in range(60):
            bob.tweet(f"{n}")
        eventually(lambda: len(alice.timeline(200)), 60)
        bob.leave()
    for left in (50, 25):
        eventually(lambda left=left: len(alice.timeline(200)) <= left, expected=True)
        kill("tweet-eraser")
    eventually(lambda: alice.timeline(200), [])
    assert alice.whole_timeline() == []


@pytest.mark.parametrize("doing", ["PUT /v1/users/me", "POST /v1/users/{other}/follow"])
def test_a_deleted_account_does_not_come_back(doing):
    """Neither by a new name nor by what it would do."""
    alice, bob = Person("Alice").join(), Person("Bob").join()
    alice.leave()
    method, path = doing.format(other=bob.user_id).split()
    assert _status(alice, path, method, json={"display_name": "Alice"}) == 403
    assert _status(bob, f"/v1/users/{alice.user_id}/follow", "POST") == 404


def _status(person, path, method="GET", **more):
    try:
        person.ask(method, path, **more)
    except RefusedError as refusal:
        return refusal.status
    return 200
