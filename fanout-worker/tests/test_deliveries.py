"""What each event does to the timelines, on stores in memory."""

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts import TOPICS, MuteChanged, Source, TweetCreated, TweetDeleted
from murmuration_runtime.errors import RedisAwayError, StoreAwayError
from murmuration_runtime.metrics import METRICS
from murmuration_testkit.waiting import eventually
from murmuration_timelines.layout import BEGINNING
from murmuration_timelines.merge import Timeline
from murmuration_timelines.shown import Shown
from murmuration_worker.examples import example_batches

from .conftest import follow, mute, tweet
from .memory import Memory

OURS = [topic for topic in TOPICS.values() if "fanout-worker" in topic.consumers]


def deliver(memory, *events):
    memory.deliveries(now=lambda: 1_700_000_000_000).deliver(events)


def delivered(memory, event):
    """Try once, as libs/worker does until it succeeds."""
    return delivered_at_once(memory, [event])


def delivered_at_once(memory, events):
    """Try them all once, as one batch."""
    with suppress(StoreAwayError):
        deliver(memory, *events)
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
    assert asked.index("remember") < asked.index("author") < asked.index("followers")


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


@pytest.mark.parametrize("muting", [True, False], ids=["told of a mute", "told of its end"])
def test_who_is_muted_does_not_show_and_comes_back_with_what_they_said(muting):
    """The follow stays; the table decides whatever the event says; tweets of the time in between are there at once."""
    memory = warm("1700000000000000001")
    memory.edges = memory.mutes = {("alice", "bob")}
    deliver(memory, mute(muting=muting))
    assert memory.followees("alice") == {"alice"}
    memory.said["bob"] = ["1700000000000000003"]
    memory.mutes = set()
    deliver(memory, mute(muting=muting))
    assert memory.followees("alice") == {"alice", "bob"}
    assert memory.ids("alice") == ["1700000000000000003", "1700000000000000001", "0"]


def test_a_follow_of_somebody_muted_shows_nobody():
    """A mute is the reader's own, and outlives follows."""
    memory = warm()
    memory.edges = memory.mutes = {("alice", "bob")}
    deliver(memory, follow(1, "alice", "bob"))
    assert memory.followees("alice") == {"alice"}
    memory.mutes = {("bob", "alice")}
    deliver(memory, follow(1, "alice", "bob"))
    assert memory.followees("alice") == {"alice", "bob"}


def test_whoever_is_overtaken_looks_at_the_edge_again():
    """It may have changed after this look, and another worker has made the timeline say so."""
    memory = warm()
    memory.edges = {("alice", "bob")}

    def unfollow(call):
        if call == "agree":
            memory.meanwhile = lambda _: None
            memory.edges.clear()
            deliver(memory, follow(2, "alice", "bob", following=False))

    memory.meanwhile = unfollow
    deliver(memory, follow(1, "alice", "bob"))
    assert memory.followees("alice") == {"alice"}


@pytest.mark.parametrize("followed", [True, False], ids=["unfollow", "follow"])
def test_a_worker_that_was_paused_and_then_killed_leaves_nothing_wrong(followed):
    """Between its look at the edge and its write the edge changes, and another worker acknowledges that."""
    memory, edge = Memory(), ("alice", "bob")
    memory.warm("alice", followees=["bob"] if followed else [])
    memory.edges = {edge} if followed else set()

    class KilledError(Exception):
        pass

    def change(call):
        if call == "agree":
            memory.meanwhile = lambda _: None
            memory.edges ^= {edge}
            deliver(memory, follow(2, "alice", "bob", following=not followed))
            memory.nodes.after = die

    def die(name, _keys):
        if name == "agree":
            raise KilledError

    memory.meanwhile = change
    with pytest.raises(KilledError):
        deliver(memory, follow(1, "alice", "bob", following=followed))
    assert ("bob" in memory.followees("alice")) == (edge in memory.edges)


def test_a_fan_out_that_read_its_page_before_an_unfollow_and_writes_after_it_shows_nothing():
    """The id may lie in the list; the reader goes by whom that shows. A later follow finds it where it belongs."""
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
    assert memory.asked == [("note", "alice")]
    assert memory.noted("alice") == {"bob"}


def test_a_rebuild_in_progress_looks_at_the_follows_again():
    """Its builder may have read them before this one changed; what arrived meanwhile stays."""
    memory = Memory()
    token = memory.reader.home.begin("alice")
    deliver(memory, tweet("1700000000000000001", "alice"), follow(1, "alice", "bob"))
    built = Timeline([], BEGINNING, Shown.of(["alice"]))
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


def test_a_fan_out_that_is_interrupted_goes_on_from_its_page():
    """A page that was written is not written again, and all are counted: eight make a celebrity here."""
    memory, reached, asked = Memory(), {}, []
    memory.edges = {(f"fan-{n}", "bob") for n in range(8)}
    memory.warm("fan-7")
    deliveries = memory.deliveries(threshold=8)

    def refuse_once(call):
        if call == "insert" and (users := memory.asked[-1][1:]) != ("bob", "bob"):
            memory.faults = iter([users not in asked])
            asked.append(users)

    def is_delivered():
        with suppress(StoreAwayError):
            deliveries.deliver([tweet("1700000000000000001")], reached)
            return True

    memory.meanwhile = refuse_once
    eventually(is_delivered, every=0)
    assert asked == [(f"fan-{n}", f"fan-{n + 1}") for n in (0, 0, 2, 2, 4, 4, 6, 6)]
    assert memory.ids("fan-7") == ["1700000000000000001", "0"]
    assert memory.authors["bob"].since


@pytest.mark.parametrize("silent", ["bob", "fan-0", "fan-3"])
def test_a_node_of_redis_that_hangs_holds_up_nobody_on_the_others(silent):
    """Whether it has the author, who comes first, or a follower of any page; its own part comes with the next try."""
    memory, reached = Memory(), {}
    memory.edges = {(f"fan-{n}", "bob") for n in range(5)}
    everybody = {"bob", *(f"fan-{n}" for n in range(5))}
    for user in everybody:
        memory.warm(user)
    memory.nodes.silent = {silent}
    events = [tweet("1700000000000000001"), tweet("1700000000000000002")]
    with pytest.raises(RedisAwayError):
        memory.deliveries().deliver(events, reached)
    both = ["1700000000000000002", "1700000000000000001", "0"]
    assert {user for user in everybody if memory.ids(user) == both} == everybody - {silent}
    memory.asked.clear()
    with pytest.raises(RedisAwayError):
        memory.deliveries().deliver(events, reached)
    pages = [call for call in memory.asked if call[0] == "insert" and call[1:] != ("bob", "bob")]
    assert len(pages) <= len(events)
    memory.nodes.silent = set()
    memory.deliveries().deliver(events, reached)
    assert {user for user in everybody if memory.ids(user) == both} == everybody
    assert memory.recent("bob") == {"1700000000000000001", "1700000000000000002"}


def test_a_node_that_hangs_holds_up_no_other_new_follower():
    """Of a followee whom many began to follow, who is elsewhere sees them at once."""
    memory, fans = Memory(), [f"fan-{n}" for n in range(40)]
    for fan in fans:
        memory.warm(fan)
    memory.edges = {(fan, "bob") for fan in fans}
    memory.nodes.silent = {"fan-3", "fan-20"}
    events = [follow(n, fan) for n, fan in enumerate(fans)]
    assert not delivered_at_once(memory, events)
    memory.nodes.silent, silent = set(), memory.nodes.silent
    assert {fan for fan in fans if "bob" not in memory.followees(fan)} == silent
    assert delivered_at_once(memory, events)
    assert all("bob" in memory.followees(fan) for fan in fans)


def test_what_an_account_said_is_read_once_for_many_new_followers():
    """All of them are one piece of work, whoever leaves again meanwhile: 800 ids are 15 ms of the database."""
    memory, fans = Memory(), [f"fan-{n}" for n in range(50)]
    for fan in fans:
        memory.warm(fan)
    memory.edges = {(fan, "viral") for fan in fans[1:]}
    deliver(memory, *(follow(n, fan, "viral") for n, fan in enumerate(fans)))
    assert [fan for fan in fans if "viral" in memory.followees(fan)] == fans[1:]
    asked = [call[0] for call in memory.asked]
    assert (asked.count("latest"), asked.count("followers_among")) == (1, 1)


@pytest.mark.parametrize(
    ("occurred_at", "recorded_at", "seconds"), [(-2_500, -60_000, 2.5), (None, -60_000, 60), (None, None, 0)]
)
def test_the_lag_of_a_deletion_is_measured_by_its_own_time_or_else_the_streams(occurred_at, recorded_at, seconds):
    """A removed row has the stream's alone, and an event of an old bridge may have none."""
    now = 1_700_000_000_000
    times = (None if time is None else now + time for time in (occurred_at, recorded_at))
    before = METRICS.get_sample_value("fanout_worker_deletion_lag_seconds_sum")
    deliver(Memory(), TweetDeleted("e", Source("s", 1), "1700000000000000001", "bob", *times))
    assert METRICS.get_sample_value("fanout_worker_deletion_lag_seconds_sum") == before + seconds


def test_every_topic_that_lists_this_service_is_consumed():
    """The contract names four."""
    assert {topic.name for topic in OURS} == {"FollowChanged", "MuteChanged", "TweetCreated", "TweetDeleted"}


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
        elif isinstance(example.event, MuteChanged):
            assert example.event.muted_id in memory.noted(example.event.muter_id), example
        else:
            assert example.event.followee_id in memory.noted(example.event.follower_id), example
        versions.add(example.version)
    assert versions == {version.number for version in topic.versions}
