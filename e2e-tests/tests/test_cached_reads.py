"""What is shown of others comes from a cache, lags by two seconds at most, and is served without it, too."""

from contextlib import contextmanager

import pytest

from murmuration_testkit.people import Person, RefusedError
from murmuration_testkit.processes import all_ready, control, pause, resume
from murmuration_testkit.waiting import eventually

SOON = 2.0  # seconds that what is shown of others may lag


@pytest.fixture
def people():
    all_ready()
    return [Person(name).join() for name in ("Alice", "Bob", "Carol")]


@contextmanager
def stopped():
    control("stop", "graph-redis")
    try:
        yield
    finally:
        control("start", "graph-redis")


@contextmanager
def hung():
    assert pause("graph-redis")
    try:
        yield
    finally:
        resume("graph-redis")


def profile(viewer, other):
    """Return somebody's profile, or the status of the refusal."""
    try:
        return viewer.ask("GET", f"/v1/users/{other.user_id}")
    except RefusedError as refusal:
        return refusal.status


def followers(viewer, other):
    return [row["user_id"] for row in viewer.ask("GET", f"/v1/users/{other.user_id}/followers")["users"]]


def test_a_new_name_shows_to_others_soon_and_to_oneself_at_once(people):
    alice, bob, _ = people
    assert profile(bob, alice)["display_name"] == "Alice"
    alice.ask("PUT", "/v1/users/me", json={"display_name": "Ally"})
    assert profile(alice, alice)["display_name"] == "Ally"
    eventually(lambda: profile(bob, alice)["display_name"], "Ally", within=SOON)


def test_the_blocked_soon_sees_nobody(people):
    """And at once in relationships; the block is gone as soon when it is taken back."""
    alice, bob, _ = people
    assert profile(bob, alice)["display_name"] == "Alice"
    assert followers(bob, alice) == []
    alice.ask("PUT", f"/v1/users/{bob.user_id}/block")
    assert alice.ask("GET", f"/v1/relationships?id={bob.user_id}")["relationships"][0]["blocking"]
    eventually(lambda: profile(bob, alice), 404, within=SOON)
    with pytest.raises(RefusedError) as refused:
        followers(bob, alice)
    assert refused.value.status == 404
    eventually(lambda: profile(alice, bob)["blocking"], True, within=SOON)
    alice.ask("DELETE", f"/v1/users/{bob.user_id}/block")
    eventually(lambda: isinstance(profile(bob, alice), dict), True, within=SOON)


def test_a_follow_shows_soon_in_a_list_that_was_read_before(people):
    alice, bob, carol = people
    assert followers(carol, alice) == []
    bob.follow(alice)
    assert followers(alice, alice) == [bob.user_id]
    eventually(lambda: followers(carol, alice), [bob.user_id], within=SOON)
    bob.unfollow(alice)
    eventually(lambda: followers(carol, alice), [], within=SOON)


def test_who_left_is_soon_nobody(people):
    alice, bob, _ = people
    assert profile(bob, alice)["display_name"] == "Alice"
    alice.leave()
    assert profile(alice, alice) == 404
    eventually(lambda: profile(bob, alice), 404, within=SOON)


@pytest.mark.parametrize("without", [stopped, hung])
def test_all_is_served_while_the_cache_is_away(people, without):
    """From the tables; and when it is back, what changed meanwhile is not shown as it was."""
    alice, bob, carol = people
    assert profile(carol, alice)["display_name"] == "Alice"
    assert followers(carol, alice) == []
    with without():
        alice.ask("PUT", "/v1/users/me", json={"display_name": "Ally"})
        bob.follow(alice)
        assert profile(carol, alice)["display_name"] == "Ally"
        assert followers(carol, alice) == [bob.user_id]
    eventually(lambda: (profile(carol, alice)["display_name"], followers(carol, alice)), ("Ally", [bob.user_id]))
