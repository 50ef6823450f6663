"""What differs for good is found and made cold, and nothing that is on its way, whatever happens meanwhile."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts import TweetDeleted
from contracts.ids import first_id
from fanout_worker.audit import ROUNDS, Audit
from murmuration_timelines import layout, reset_timelines
from murmuration_timelines.celebrities import Author
from murmuration_timelines.sampled_timelines import Owner
from murmuration_timelines.shown import Shown, digest

from .conftest import follow, mute, tweet
from .memory import Memory

NOW_MS = 1_700_000_000_000
STARS = ["bob", "carol", "dave"]
ALICE = Owner("alice")


def tweet_id(n):
    """The id of the tweet whose place in time is n."""
    return str(int(first_id(NOW_MS - 1_000_000)) + n)


class World:
    """Alice, who reads, and three who are read; what changes is told when the worker gets to it."""

    def __init__(self):
        self.memory = Memory()
        self.deliveries = self.memory.deliveries(threshold=100, now=lambda: NOW_MS)
        self.on_their_way = []
        self.said = 0
        self.live = lambda: None
        self.memory.edges |= {("alice", "bob"), ("alice", "carol")}
        self.memory.warm("alice", followees=["bob", "carol"])
        self.memory.warm_author("bob")
        for star in STARS:
            for _ in range(3):
                self.tweet(star)
        self.deliver()

    def tweet(self, star):
        self.said += 1
        self.memory.said[star].insert(0, tweet_id(self.said))
        self.on_their_way.append(tweet(tweet_id(self.said), star))

    def delete(self, star):
        if said := self.memory.said[star]:
            self.on_their_way.append(TweetDeleted("d", tweet("1").source, said.pop(), star, None))

    def turn(self, star):
        """Follow or unfollow."""
        self.memory.edges ^= {("alice", star)}
        self.on_their_way.append(follow(1, "alice", star))

    def hush(self, star):
        """Mute, or no longer."""
        self.memory.mutes ^= {("alice", star)}
        self.on_their_way.append(mute("alice", star))

    def deliver(self, count=None):
        events, self.on_their_way[:count] = self.on_their_way[:count], []
        self.memory.quietly(lambda: [self.deliveries.deliver([event]) for event in events])

    def wait(self):
        """Until all that was committed before is delivered."""
        self.deliver()
        self.live()

    def audit(self, *owners):
        memory = self.memory
        return Audit(
            memory.reader,
            memory,
            memory,
            memory,
            memory,
            wait=self.wait,
            make_cold=lambda user: memory.quietly(lambda: reset_timelines.of_user(memory.nodes, user)),
            before_query=self.live,
            now=lambda: NOW_MS / 1000,
        ).run(owners or [ALICE])

    @property
    def ids(self):
        return self.memory.nodes.values[layout.home_timeline("alice")]

    def turn_shown(self, user):
        """Take a user out of whom Alice's timeline shows, or anybody's digest into it."""
        key = layout.home_shown("alice")
        head, _, digests = self.memory.nodes.values[key].partition(b" ")
        left = Shown(digests).each() ^ {digest(user)}
        self.memory.nodes.values[key] = head + b" " + b"".join(sorted(left))


ACTS = ["tweet", "delete", "turn", "hush"]
acts = st.lists(st.tuples(st.sampled_from(ACTS), st.sampled_from(STARS)), max_size=8)


@settings(deadline=None)
@given(acts, st.data())
def test_whatever_is_on_its_way_is_no_difference(past, data):
    """Between any two steps of the audit somebody may tweet, follow, mute, and be delivered: nothing is ever found."""
    world = World()
    for act, star in past:
        getattr(world, act)(star)
    left = iter(range(12))

    def live():
        if next(left, None) is None:
            return
        act = data.draw(st.sampled_from([*ACTS, "deliver", "nothing"]))
        if act == "deliver":
            world.deliver(1)
        elif act != "nothing":
            getattr(world, act)(data.draw(st.sampled_from(STARS)))

    world.live = live
    assert world.audit().differed == []


@settings(deadline=None)
@given(acts, st.data())
def test_whatever_is_spoiled_is_found_and_made_cold(past, data):
    """A tweet that is missing, somebody who is hidden or should be; also while events are on their way."""
    world = World()
    for act, star in past:
        getattr(world, act)(star)
    world.deliver()
    shown = sorted({followee for _, followee in world.memory.edges - world.memory.mutes} | {"alice"})
    seen = [each for star in shown for each in world.memory.said[star]]
    what = data.draw(st.sampled_from(["missing", "hidden", "strange"]))
    if what == "missing" and seen:
        world.ids.remove(data.draw(st.sampled_from(seen)))
    else:
        world.turn_shown(data.draw(st.sampled_from(shown if what == "hidden" else ["stranger"])))
    world.tweet("bob")
    summary = world.audit()
    assert (summary.checked, summary.differed, summary.busy) == (1, [ALICE], [])
    assert layout.home_timeline("alice") not in world.memory.nodes.values


@pytest.mark.parametrize("spoiled", [lambda ids: [*ids[1::-1], *ids[2:]], lambda ids: [ids[0], *ids]])
def test_a_list_that_does_not_descend_differs(spoiled):
    """Two ids have changed places, or one is there twice."""
    world = World()
    world.ids[:] = spoiled(world.ids)
    assert world.audit().differed == [ALICE]


def test_a_healthy_timeline_is_looked_at_once():
    """Nothing is waited for where nothing differs, and what is cold is passed over."""
    world = World()
    world.wait = None
    summary = world.audit(ALICE, Owner("bob", is_author=True), Owner("nobody"))
    assert (summary.checked, summary.differed, summary.busy) == (3, [], [])


def test_an_authors_own_list_is_compared_too():
    """Of a celebrity it is all that readers have."""
    world = World()
    world.memory.authors["bob"] = Author(1_000_000, tweet_id(0))
    own = world.memory.nodes.values[layout.author_timeline("bob")]
    own.remove(tweet_id(2))
    bob = Owner("bob", is_author=True)
    assert world.audit(bob).differed == [bob]
    assert layout.author_timeline("bob") not in world.memory.nodes.values


def test_what_is_not_pushed_is_not_missed():
    """Readers merge it; who has become a celebrity a moment ago, and no index knows, is asked for by their row."""
    for known in (True, False):
        world = World()
        world.memory.authors["bob"] = Author(1_000_000, first_id(NOW_MS - 10))
        if not known:
            world.memory.celebrities = set
        world.memory.said["bob"].insert(0, first_id(NOW_MS - 5))
        assert world.audit().differed == []


def test_what_somebody_said_who_departed_is_not_missed():
    """A rebuild leaves it out, though it is not erased yet; with the author's row as it was, it is missed."""
    for is_departed in (True, False):
        world = World()
        world.memory.authors["bob"] = Author(is_departed=is_departed)
        world.ids.remove(tweet_id(1))
        assert world.audit().differed == ([] if is_departed else [ALICE])


def test_an_index_that_lags_proves_nothing():
    """It names somebody who was left, and a tweet that was deleted; the rows know better."""
    world = World()
    world.memory.followed_by = lambda _: frozenset({"bob", "carol", "dave"})
    world.memory.between = lambda *_: [tweet_id(999)]
    assert world.audit().differed == []


def test_whose_follows_never_stand_still_is_left_to_the_next_run():
    """And counted."""
    world = World()
    world.ids.remove(tweet_id(1))
    world.live = lambda: (world.turn("dave"), world.deliver())
    summary = world.audit()
    assert (summary.differed, summary.busy) == ([], [ALICE])
    assert sum(call == ("followed_by", "alice") for call in world.memory.asked) == 2 * ROUNDS


def test_a_difference_is_logged_in_fields(caplog):
    """Whoever looks for it searches for a user, and reads what differed."""
    world = World()
    world.ids.remove(tweet_id(4))
    world.audit()
    (record,) = caplog.records
    assert (record.user_id, record.timeline) == ("alice", "home")
    assert record.reason == f"it lacks {tweet_id(4)} of carol, and 0 more"
