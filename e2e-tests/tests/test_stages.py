"""No shortcut: whatever is stopped, nothing gets past it; started again, everything does."""

from murmuration_testkit.people import Person
from murmuration_testkit.processes import caught_up, stopped
from murmuration_testkit.waiting import eventually, steadily


def test_nothing_arrives_while_the_bridge_is_stopped_and_everything_after():
    """The stream of the tables is the only way to Kafka, for counts, timelines and deletions alike."""
    alice, bob = Person("Alice").join(), Person("Bob").join()
    alice.follow(bob)
    regret = bob.tweet("regret")
    _settled(alice, bob, ["regret"])
    with stopped("cdc-bridge"):
        bob.follow(alice)
        bob.tweet("during the pause")
        bob.delete(regret)
        assert bob.edges("following") == {alice.user_id}  # the rows are there
        steadily(lambda: (alice.timeline(), bob.counts(), alice.counts()), (["regret"], (1, 0), (0, 1)))
    eventually(lambda: (alice.timeline(), bob.counts(), alice.counts()), (["during the pause"], (1, 1), (1, 1)))


def test_counts_stand_still_without_the_aggregator():
    """Nobody else writes them; timelines go on."""
    alice, bob = Person("Alice").join(), Person("Bob").join()
    with stopped("count-aggregator"):
        alice.follow(bob)
        bob.tweet("hello")
        eventually(alice.timeline, ["hello"])
        steadily(bob.counts, (0, 0), during=2)
    eventually(bob.counts, (1, 0))


def test_warm_timelines_stand_still_without_fan_out():
    """Nobody else inserts; counts go on."""
    alice, bob = Person("Alice").join(), Person("Bob").join()
    alice.follow(bob)
    bob.tweet("before")
    _settled(alice, bob, ["before"])
    with stopped("fanout-worker"):
        bob.tweet("hello")
        bob.follow(alice)
        eventually(alice.counts, (1, 1))
        steadily(alice.timeline, ["before"], during=2)
    eventually(alice.timeline, ["hello", "before"])


def _settled(alice, bob, timeline):
    """Wait until the follow is through: before that, alice's next read would be a rebuild from the tables."""
    eventually(bob.counts, (1, 0))
    caught_up("fanout-worker")
    eventually(alice.timeline, timeline)
