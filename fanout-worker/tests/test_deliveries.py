"""What each event does to the timelines, on stores in memory."""

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts import TOPICS, Source, TweetCreated, TweetDeleted
from murmuration_runtime.errors import StoreAwayError
from murmuration_testkit.waiting import eventually
from murmuration_timelines.layout import BEGINNING
from murmuration_timelines.merge import Timeline
from murmuration_worker.examples import example_batches

from .conftest import follow, tweet
from .memory import Memory

OURS = [topic for topic in TOPICS.values() if "fanout-worker" in topic.consumers]


def deliver(memory, *events):
    memory.deliveries(now=lambda: 1_700_000_000_000).deliver(events)


def delivered(memory, event):
    """Try once, as libs/worker does until it succeeds."""
    with suppress(StoreAwayError):
        deliver(memory, event)
        return True


def test_a_tweet_reaches_its_author_and_every_warm_follower():
    """All pages of followers are written; whoever is cold stays cold."""
    memory = Memory()
    memory.edges = {(f"fan-{n}", "bob") for n in range(5)}
    for user in ("bob", "fan-0", "fan-4"):
        memory.warm(user)
    deliver(memory, tweet("1700000000000000001"))
    assert memory.ids("bob") == memory.ids("fan-0") == memory.ids("fan-4") == ["1700000000000000001", "0"]
    assert memory.ids("fan-1") == []


def test_a_tweet_is_remembered_before_its_followers_are_read():
    """A follow that the read missed finds the tweet among the author's recent ones."""
    memory = Memory()
    deliver(memory, tweet("1700000000000000001"))
    asked = [call[0] for call in memory.asked]
    assert asked.index("zadd") < asked.index("author") < asked.index("followers")


def warm(*ids):
    """Alice's timeline, in which she sees herself alone."""
    memory = Memory()
    memory.warm("alice", *ids)
    return memory


def test_a_follow_brings_what_the_index_and_the_recents_know():
    """Either may lack the latest; together they have it all."""
    memory = warm()
    memory.edges = {("alice", "bob")}
    memory.said["bob"] = ["1700000000000000002", "1700000000000000001"]
    for n in (2, 3):
        memory.timelines.add_recent("bob", f"170000000000000000{n}")
    deliver(memory, follow(1, "alice", "bob"))
    assert memory.ids("alice") == [f"170000000000000000{n}" for n in (3, 2, 1)] + ["0"]
    assert memory.followees("alice") == {"alice", "bob"}


@pytest.mark.parametrize("following", [True, False])
def test_the_table_decides_whatever_the_event_says(following):
    """A replayed or late event makes the timeline say what the table says now."""
    memory = warm()
    memory.edges = set() if following else {("alice", "bob")}
    deliver(memory, follow(1, "alice", "bob", following=following))
    assert ("bob" in memory.followees("alice")) is not following


def test_an_edge_that_changes_meanwhile_is_looked_at_again():
    """Repeated until it stands still."""
    memory = warm()
    memory.edges = {("alice", "bob")}
    memory.meanwhile = lambda call: memory.edges.clear() if call == "agree" else None
    deliver(memory, follow(1, "alice", "bob"))
    assert memory.followees("alice") == {"alice"}


def test_a_fan_out_that_read_its_page_before_an_unfollow_and_writes_after_it_shows_nothing():
    """The id may lie in the list; the reader goes by `following`. A later follow finds it where it belongs."""
    memory = Memory()
    memory.warm("alice", followees=["bob"])
    memory.edges = {("alice", "bob")}

    def unfollow(call):
        if call == "insert" and memory.asked[-1] == ("insert", "alice"):
            memory.meanwhile = lambda _: None
            memory.edges.clear()
            deliver(memory, follow(1, "alice", "bob", following=False))

    memory.meanwhile = unfollow
    deliver(memory, tweet("1700000000000000001"))
    assert memory.ids("alice") == ["1700000000000000001", "0"]
    assert memory.followees("alice") == {"alice"}
    memory.edges = {("alice", "bob")}
    deliver(memory, follow(2, "alice", "bob"))
    assert memory.ids("alice") == ["1700000000000000001", "0"]
    assert memory.followees("alice") == {"alice", "bob"}


def test_a_follow_after_the_page_was_read_finds_the_tweet_though_the_index_lags():
    """It was remembered before the page was read."""
    memory = warm()

    def begin_to_follow(call):
        if call == "followers":
            memory.edges = {("alice", "bob")}
            deliver(memory, follow(1, "alice", "bob"))
            memory.edges = set()

    memory.meanwhile = begin_to_follow
    deliver(memory, tweet("1700000000000000001"))
    assert memory.said["bob"] == []
    assert memory.ids("alice") == ["1700000000000000001", "0"]


def test_a_cold_timeline_costs_a_note_and_no_more():
    """The note tells the next rebuild to look at the edge itself."""
    memory = Memory()
    memory.edges = {("alice", "bob")}
    deliver(memory, follow(1, "alice", "bob"))
    assert memory.asked == [("sadd", "alice")]
    assert memory.noted("alice") == {"bob"}


def test_a_rebuild_in_progress_looks_at_the_follows_again():
    """Its builder may have read them before this one changed; what arrived meanwhile stays."""
    memory = Memory()
    token = memory.reader.home.begin("alice")
    deliver(memory, tweet("1700000000000000001", "alice"), follow(1, "alice", "bob"))
    built = Timeline([], BEGINNING, frozenset({"alice"}))
    assert not memory.reader.home.commit("alice", token, built)
    assert memory.reader.home.renew("alice", token, look_again=True)
    assert memory.reader.home.commit("alice", token, built)
    assert memory.ids("alice") == ["1700000000000000001", "0"]


@settings(deadline=None)
@given(st.lists(st.booleans(), max_size=12))
def test_a_store_that_comes_and_goes_loses_nothing(faults):
    """Whatever fails in between, every event ends as if nothing had."""
    memory = Memory(faults)
    memory.edges = {("fan-1", "bob"), ("fan-2", "bob"), ("fan-3", "bob")}
    memory.warm("fan-3")
    gone = TweetDeleted("d", Source("s", 9), "1700000000000000001", "bob", None)
    for event in (tweet("1700000000000000001"), tweet("1700000000000000002"), gone):
        eventually(lambda event=event: delivered(memory, event), every=0)
    assert memory.ids("fan-3") == ["1700000000000000002", "1700000000000000001", "0"]
    assert memory.is_buried("1700000000000000001")
    assert not memory.is_buried("1700000000000000002")


def test_every_topic_that_lists_this_service_is_consumed():
    """The contract names three."""
    assert {topic.name for topic in OURS} == {"FollowChanged", "TweetCreated", "TweetDeleted"}


@pytest.mark.parametrize("topic", OURS, ids=lambda topic: topic.name)
def test_every_example_of_every_version_is_delivered(topic):
    """The consumer's side of the contract: whatever an event may look like, its handler takes it."""
    versions = set()
    for example, batch in example_batches(topic):
        memory = Memory()
        author = getattr(example.event, "author_id", "")
        memory.warm(author)
        deliver(memory, *batch.events)
        if isinstance(example.event, TweetCreated):
            assert memory.ids(author) == [example.event.tweet_id, "0"], example
        elif isinstance(example.event, TweetDeleted):
            assert memory.is_buried(example.event.tweet_id), example
        else:
            assert example.event.followee_id in memory.noted(example.event.follower_id), example
        versions.add(example.version)
    assert versions == {version.number for version in topic.versions}
