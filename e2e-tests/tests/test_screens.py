"""What an app shows on one screen takes few requests."""

import pytest

from murmuration_testkit.people import Person, RefusedError
from murmuration_testkit.waiting import eventually


class Screen:
    """What one person's app asks for, counted."""

    def __init__(self, person):
        self.person = person
        self.calls = 0

    def get(self, path):
        self.calls += 1
        return self.person.ask("GET", path)


@pytest.fixture
def people():
    alice, bob, carol = (Person(name).join() for name in ("Alice", "Bob", "Carol"))
    for other in (bob, carol):
        alice.follow(other)
        other.follow(alice)
        other.tweet(f"hello from {other.name}")
    eventually(lambda: len(alice.timeline()), 2)
    return alice, bob, carol


def names(shown):
    return {profile["user_id"]: profile["display_name"] for profile in shown["authors"]}


def test_home_and_a_profile_are_on_the_screen_after_three_requests(people):
    """The timeline with its authors' names and who is looking; somebody's page with their tweets and followers."""
    alice, bob, carol = people
    home = Screen(alice)
    timeline = home.get("/v1/timeline?expand=author")
    assert names(timeline) == {bob.user_id: "Bob", carol.user_id: "Carol"}
    assert home.get("/v1/users/me")["display_name"] == "Alice"
    profile = Screen(bob)
    profile.get(f"/v1/users/{alice.user_id}")
    profile.get(f"/v1/users/{alice.user_id}/tweets?expand=author")
    followers = profile.get(f"/v1/users/{alice.user_id}/followers?expand=author")
    assert names(followers) == {bob.user_id: "Bob", carol.user_id: "Carol"}
    assert max(home.calls, profile.calls) <= 3


def test_many_tweets_and_many_profiles_take_a_request_each(people):
    """In the order asked; of a private author for followers alone, and of nobody nothing."""
    alice, bob, carol = people
    ids = [*bob.said(), *carol.said()]
    carol.turn(private=True)
    stranger = Person("Dave").join()
    path = "/v1/tweets?expand=author&" + "&".join(f"id={each}" for each in [*reversed(ids), "1" * 19])
    assert [tweet["tweet_id"] for tweet in alice.ask("GET", path)["tweets"]] == ids[::-1]
    strangers = stranger.ask("GET", path)
    assert [tweet["author_id"] for tweet in strangers["tweets"]] == [*names(strangers)] == [bob.user_id]
    asked = "&".join(f"id={each}" for each in (carol.user_id, "nobody", alice.user_id, carol.user_id))
    users = stranger.ask("GET", f"/v1/users?{asked}")["users"]
    assert [(user["display_name"], user["is_private"]) for user in users] == [("Carol", True), ("Alice", False)]


def test_who_has_no_profile_is_told_so():
    """By follow-service and by tweet-service alike, until they join."""
    nobody, somebody = Person("Nobody"), Person("Somebody").join()
    for act in (lambda: nobody.tweet("hello"), lambda: nobody.follow(somebody)):
        with pytest.raises(RefusedError) as refused:
            act()
        assert (refused.value.status, refused.value.problem["type"]) == (403, "/problems/no-profile")
    nobody.join()
    nobody.tweet("hello")
    nobody.follow(somebody)
