"""One story, through every service and every real part."""

from murmuration_testkit.people import Person
from murmuration_testkit.waiting import eventually, steadily


def test_a_follow_moves_both_counts_and_an_unfollow_moves_them_back():
    """Follow, repeat, unfollow, repeat: the counts are those of the rows."""
    alice, bob = Person("Alice").join(), Person("Bob").join()
    for _ in range(2):
        alice.follow(bob)
    eventually(lambda: (alice.counts(), bob.counts()), ((0, 1), (1, 0)))
    assert alice.edges("following") == {bob.user_id}
    for _ in range(2):
        alice.unfollow(bob)
    eventually(lambda: (alice.counts(), bob.counts()), ((0, 0), (0, 0)))


def test_a_tweet_appears_in_its_followers_timelines_and_its_authors():
    """Newest first, for those who follow; nobody else sees it."""
    alice, bob, carol = (Person(name).join() for name in ("Alice", "Bob", "Carol"))
    alice.follow(bob)
    assert [one.timeline() for one in (alice, bob, carol)] == [[], [], []]
    bob.tweet("first")
    bob.tweet("second")
    for reader in (alice, bob):
        eventually(reader.timeline, ["second", "first"])
    assert carol.timeline() == []


def test_a_follow_brings_what_was_said_before_and_an_unfollow_takes_it_away():
    """The timeline is what its owner follows now."""
    alice, bob = Person("Alice").join(), Person("Bob").join()
    bob.tweet("said before")
    assert alice.timeline() == []
    alice.follow(bob)
    eventually(alice.timeline, ["said before"])
    alice.unfollow(bob)
    eventually(alice.timeline, [])


def test_a_deleted_tweet_is_gone_for_every_reader():
    """Also for those who have read it, whichever process of timeline-service answers."""
    alice, bob = Person("Alice").join(), Person("Bob").join()
    alice.follow(bob)
    gone = bob.tweet("regret")
    bob.tweet("stay")
    eventually(alice.timeline, ["stay", "regret"])
    bob.delete(gone)
    eventually(alice.timeline, ["stay"])
    eventually(lambda: [alice.timeline() for _ in range(9)], [["stay"]] * 9)
    steadily(alice.timeline, ["stay"], during=1)


def test_the_scroll_goes_down_to_the_first_tweet():
    """Pages of any size, no repeat, no hole."""
    alice, bob = Person("Alice").join(), Person("Bob").join()
    alice.follow(bob)
    said = [author.tweet(f"{n}") for n in range(15) for author in (alice, bob)]
    eventually(lambda: len(alice.timeline(200)), len(said))
    assert alice.whole_timeline() == sorted(said, reverse=True)
    page = alice.ask("GET", "/v1/timeline?limit=7")
    ids = [tweet["tweet_id"] for tweet in page["tweets"]]
    while page["next_cursor"]:
        page = alice.ask("GET", f"/v1/timeline?limit=7&cursor={page['next_cursor']}")
        ids += [tweet["tweet_id"] for tweet in page["tweets"]]
    assert ids == sorted(said, reverse=True)
