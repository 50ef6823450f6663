"""The oracle: paging from the top to the end gives the truth, whatever the cache holds and whatever went on before."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from murmuration_runtime.settled import LATE_SECONDS
from murmuration_timelines.layout import BEGINNING
from murmuration_timelines.merge import Timeline
from murmuration_timelines.shown import Shown
from timeline_service.rebuild_slots import BusyError
from timeline_service.since_mark import read_mark

from .world import CAP, FOLLOWEES, HOME_BEGUN, HOME_COMMIT, IDS, PLACES, TWEETS, World

PEOPLE = ["alice", "bob", "carol"]

person = st.sampled_from(PEOPLE)
number = st.integers(0, 50)
size = st.integers(1, 5)
steps = st.one_of(
    st.tuples(st.just(World.wait)),
    st.tuples(st.just(World.say), person),
    st.tuples(st.just(World.say), person),
    st.tuples(st.just(World.say), person),
    st.tuples(st.just(World.follow), person, person),
    st.tuples(st.just(World.mute), person, person),
    st.tuples(st.just(World.delete), number),
    st.tuples(st.just(World.promote), person),
    st.tuples(st.just(World.demote), person),
    st.tuples(st.just(World.deliver), number),
    st.tuples(st.just(World.deliver), number),
    st.tuples(st.just(World.replay), number),
    st.tuples(st.just(World.deliver_late), person, number),
    st.tuples(st.just(World.catch_up)),
    st.tuples(st.just(World.evict), person),
    st.tuples(st.just(World.evict_author), person),
    st.tuples(st.just(World.let_days_pass), st.sampled_from([2, 14])),
    st.tuples(st.just(World.shorten), person, size),
    st.tuples(st.just(World.forget_bodies)),
    st.tuples(st.just(World.die_building), person),
    st.tuples(st.just(World.lose_cache)),
    st.tuples(st.just(World.evict_shown), person),
    st.tuples(st.just(World.promote_a_replica)),
    st.tuples(st.just(World.turn), person, size),
    st.tuples(st.just(World.turn), person, size),
    st.tuples(st.just(World.turn_in_the_next_version), person, size),
)
places = st.sampled_from(PLACES)
histories = st.lists(
    st.one_of(steps, steps, steps, st.builds(lambda place, step: (World.during, place, *step), places, steps)),
    min_size=20,  # without it most are of five steps; they shrink to waiting
    max_size=60,
)


@settings(deadline=None)  # a rebuild starts a thread, and a machine may be busy
@given(histories, size)
def test_every_history_reads_as_the_truth(history, limit):
    """While it goes on, no page repeats or reorders; once the dust settles, every reader's pages are the truth."""
    world = World()
    for step, *arguments in history:
        step(world, *arguments)
    world.dust_settles()
    for user in PEOPLE:
        assert world.paged(user, limit) == world.database.truth(user)
        assert world.paged(user, limit) == world.database.truth(user)  # as the first one left the cache
        assert world.paged(user, limit, pages=world.next_pages) == world.database.truth(user)
    world.nodes.away = True
    for user in PEOPLE:
        assert world.paged(user, limit) == world.database.truth(user)


@settings(deadline=None)
@given(
    st.lists(st.one_of(st.tuples(st.just(World.say), person), st.tuples(st.just(World.deliver), number)), max_size=40),
    size,
    st.data(),
)
def test_polling_shows_each_tweet_once(history, limit, data):
    """Whoever asks again and again since the last mark gets all that is new, however late, and nothing twice."""
    world = World(cap=60, least=60)
    world.database.follows = {("alice", "bob")}
    mark, got = world.mark("alice"), []
    for step, *arguments in history:
        step(world, *arguments)
        if data.draw(st.booleans()):
            mark, news = world.mark("alice"), world.paged("alice", limit, mark)
            got += news
            assert news == sorted(news, key=lambda tweet: tweet.tweet_id, reverse=True)
        if data.draw(st.booleans()) and len(world.pending) < 5:
            world.wait()
    world.dust_settles()
    got += world.paged("alice", limit, mark)
    assert sorted(tweet.tweet_id for tweet in got) == sorted(tweet.tweet_id for tweet in world.database.truth("alice"))


def test_a_warm_timeline_is_read_from_the_cache():
    """The second read finds what the first built."""
    world = World()
    world.say("alice")
    world.dust_settles()
    assert len(world.paged("alice", 20)) == 1
    queries = world.database.queries
    assert len(world.paged("alice", 20)) == 1
    assert world.sources == ["rebuild", "cache"]
    assert world.database.queries == queries


@pytest.mark.parametrize("state", [World.wait, World.lose_cache, World.take_redis_away])
def test_who_is_muted_shows_on_no_page_and_comes_back_with_all_they_said(state):
    """Warm, cold, and without a cache."""
    world = World()
    world.database.follows.add(("alice", "bob"))
    world.say("alice")
    for muted in (True, False):
        world.paged("alice", 20)
        for _ in range(CAP):
            world.say("bob")
        world.mute("alice", "bob")
        world.dust_settles()
        state(world)
        assert ({tweet.author_id for tweet in world.paged("alice", 2)} == {"alice"}) is muted
        world.nodes.away = False
        assert world.paged("alice", 2) == world.database.truth("alice")


@pytest.mark.parametrize("state", [World.wait, World.lose_cache, World.take_redis_away])
def test_who_deleted_their_account_shows_no_more_though_nothing_is_erased_yet(state):
    """Warm, cold, and without a cache."""
    world = World()
    world.database.follows.add(("alice", "bob"))
    said = [world.say(name) for name in ("bob", "alice") * CAP]
    world.dust_settles()
    assert world.paged("alice", 20) == said[::-1]
    world.database.gone.add("bob")
    state(world)
    assert world.paged("alice", 2) == [tweet for tweet in said[::-1] if tweet.author_id == "alice"]


def test_without_a_cache_the_database_serves():
    """Slower, and the same pages."""
    world = World()
    world.database.follows.add(("alice", "bob"))
    for n in range(7):
        world.say("bob" if n % 2 else "alice")
    world.catch_up()
    world.nodes.away = True
    assert world.paged("alice", 2) == world.database.truth("alice")
    assert set(world.sources) == {"database"}


def test_without_a_cache_the_top_is_read_anew_each_time():
    """Only what is long past is held for the next page."""
    world = World()
    world.nodes.away = True
    for _ in range(2):
        world.say("alice")
        world.catch_up()
        assert world.paged("alice", 2) == world.database.truth("alice")


def test_a_cache_that_leaves_in_the_middle_of_a_page_changes_nothing():
    """Its ids were read, the bodies come from the database."""
    world = World()
    said = world.say("alice")
    world.dust_settles()
    world.paged("alice", 20)
    world.forget_bodies()
    world.during(TWEETS, lambda world: setattr(world.nodes, "away", True))
    assert world.paged("alice", 20) == [said]


def test_a_tweet_that_arrives_during_a_rebuild_stays():
    """The index did not have it when the builder read; it is in the timeline after."""
    world = World()

    def late(world):
        world.say("alice")
        world.deliver(0)

    world.during(IDS, late)
    world.paged("alice", 20)
    assert world.paged("alice", 20) == world.database.truth("alice") != []
    assert world.sources == ["rebuild", "cache"]


@pytest.mark.parametrize("place", [HOME_BEGUN, FOLLOWEES, IDS, HOME_COMMIT])
@pytest.mark.parametrize("before", [set(), {("alice", "bob")}])
def test_a_follow_that_changes_during_a_rebuild_is_not_forgotten(place, before):
    """Wherever in the rebuild it comes, and whatever the index knew: what the builder read before is not kept."""
    world = World()
    world.database.follows = {*before}
    world.say("bob")
    world.deliver(0)

    def change(world):
        world.follow("alice", "bob")
        world.deliver(0)

    world.during(place, change)
    world.paged("alice", 20)
    assert world.paged("alice", 20) == world.database.truth("alice")
    assert world.warm("alice").shown == Shown.of({"alice", *(bob for _, bob in world.database.follows)})


@pytest.mark.parametrize("before", [set(), {("alice", "bob")}])
def test_an_index_that_lags_is_corrected_by_the_notes(before):
    """The index of followees may not know of the latest follow or unfollow; the edges that were noted are looked at."""
    world = World()
    world.say("bob")
    world.database.follows = {*before}
    world.follow("alice", "bob")
    world.deliver(1)
    assert world.database.index_follows == before
    world.database.index_lacks.clear()
    assert world.paged("alice", 20) == world.database.truth("alice")


@pytest.mark.parametrize("place", [HOME_BEGUN, FOLLOWEES, IDS, HOME_COMMIT])
def test_a_second_reader_does_not_disturb_a_rebuild(place):
    """Both see the truth, and the work of one is kept."""
    world = World()
    world.say("alice")
    world.catch_up()
    second = []
    world.during(place, lambda world: second.extend(world.paged("alice", 20)))
    assert world.paged("alice", 20) == second == world.database.truth("alice") != []
    assert world.warm("alice")


def test_a_builder_that_died_holds_nobody_up():
    """Its mark makes others read for themselves; when the mark is gone, one of them builds."""
    world = World()
    world.say("alice")
    world.catch_up()
    world.die_building("alice")
    assert world.paged("alice", 20) == world.database.truth("alice")
    assert not world.warm("alice")
    assert world.database.queries == 1
    world.evict("alice")
    assert world.paged("alice", 20) == world.database.truth("alice")
    assert world.warm("alice")


def test_a_body_read_before_a_delete_and_kept_after_it_does_not_show():
    """The tombstone that came meanwhile stays; the body does not take its place."""
    world = World()
    world.say("alice")
    world.dust_settles()

    def delete(world):
        world.delete(0)
        world.deliver(0)

    world.during(TWEETS, delete)
    world.paged("alice", 20)
    world.wait()
    assert world.paged("alice", 20) == []


def test_a_fan_out_that_read_its_page_before_an_unfollow_shows_nothing():
    """The id may come after it; the read drops what is of nobody followed."""
    world = World()
    world.database.follows = {("alice", "bob")}
    world.paged("alice", 20)
    world.say("bob")
    world.follow("alice", "bob")
    world.deliver(1)
    world.deliver_late("alice", 0)
    world.dust_settles()
    assert world.warm("alice").ids
    assert world.paged("alice", 20) == []


def test_a_deletion_shows_at_once():
    """Nothing is held in a process: another one may have shown that the tweet is gone."""
    world = World()
    said = world.say("alice")
    world.dust_settles()
    assert world.paged("alice", 20) == [said]
    world.delete(0)
    world.deliver(0)
    assert world.paged("alice", 20) == []


def test_a_celebritys_tweets_are_merged_though_they_are_not_pushed():
    """The list lacks them; the reader merges them in their places."""
    world = World()
    world.database.follows = {("alice", "bob"), ("alice", "carol")}
    world.paged("alice", 20)
    world.promote("bob")
    for n in range(8):
        world.say("bob" if n % 2 else "carol")
    world.dust_settles()
    assert all(world.database.said[i].author_id == "carol" for i in world.warm("alice").ids)
    assert world.paged("alice", 20) == world.database.truth("alice")


def test_more_celebrities_than_one_wave_takes_lose_nothing():
    """The cache is asked again: the limit bounds a wave, not what is shown."""
    world = World()
    world.database.follows = {("alice", name) for name in "abc"}
    for name in "abc":
        world.promote(name)
        world.say(name)
    world.dust_settles()
    for _ in range(2):
        assert [tweet.author_id for tweet in world.paged("alice", 20)] == ["c", "b", "a"]


def test_far_down_all_that_the_cache_holds_of_a_celebrity_is_read():
    """A part of it does for the top; the database is asked only below what is cached."""
    world = World(cap=60)
    world.database.follows = {("alice", "bob")}
    world.paged("alice", 20)
    world.promote("bob")
    for _ in range(20):
        world.say("bob")
    world.dust_settles()
    world.paged("alice", 20)
    world.wait()
    assert world.paged("alice", 1) == world.database.truth("alice")
    assert "database" not in world.sources


def test_what_a_celebrity_says_shows_at_once_to_every_reader():
    """What is the same for all of them is held in the process, and each page asks whether it has changed."""
    world = World()
    world.database.follows = {("alice", "bob"), ("carol", "bob")}
    world.promote("bob")
    old = world.say("bob")
    world.dust_settles()
    for user in ("alice", "carol"):
        assert world.paged(user, 20) == [old]
    new = world.say("bob")
    world.deliver(0)
    for user in ("alice", "carol"):
        assert world.paged(user, 20) == [new, old]


def test_a_page_in_the_middle_reads_no_more_of_an_author_than_may_show():
    """A page below the cap costs a query for each author followed, and more only of those who said most."""
    world = World()
    world.database.follows = {("alice", f"f-{n}") for n in range(9)}
    for n in range(100):
        world.say(f"f-{n % 9}" if n % 9 else "f-1")
    world.catch_up()
    world.nodes.away = True
    page = world.pages.home("alice", 5)
    assert page.tweets == world.database.truth("alice")[:5]
    assert world.database.queries <= 2 * 10


def test_far_down_a_page_reads_ahead_for_the_next_ones():
    """Whoever scrolls on costs no query for each author at every page, unless they follow others meanwhile."""
    world = World(cap=60)
    world.database.follows = {("alice", "bob")}
    for n in range(200):
        world.say("bob" if n % 2 else "carol")
        world.say("alice")
    world.dust_settles()
    world.now += 100
    truth = world.database.truth("alice")
    assert world.paged("alice", 5) == truth
    assert world.database.queries < 2 * len(truth) / 20
    cursor = truth[99].tweet_id
    assert world.pages.home("alice", 5, cursor).tweets == truth[100:105]
    world.follow("alice", "carol")
    world.dust_settles()
    below = [tweet for tweet in world.database.truth("alice") if tweet.tweet_id < cursor]
    assert world.pages.home("alice", 5, cursor).tweets == below[:5] != truth[100:105]


def test_a_page_from_the_database_is_shed_while_all_slots_are_taken():
    """It stands in the same queue as the rebuilds, and costs as much."""
    world = World(slots=1)
    world.database.follows = {("alice", "bob")}
    said = [world.say("bob"), world.say("alice")]
    world.dust_settles()
    world.nodes.away = True
    with world.slots.one(), pytest.raises(BusyError):
        world.pages.home("alice", 5)
    assert world.pages.home("alice", 5).tweets == said[::-1]
    assert world.sources == ["shed", "database"]


@pytest.mark.parametrize("limit", [1, 2, 200])
def test_somebody_new_has_an_empty_timeline(limit):
    """No tweets, no cursor, no error; and what comes next is new."""
    world = World()
    assert world.paged("nobody", limit) == []
    mark = world.mark("nobody")
    said = world.say("nobody")
    world.dust_settles()
    assert world.paged("nobody", limit, mark) == [said]


def test_since_ends_exactly_where_the_mark_was_made():
    """Pages of what is new go down to the mark, and no further."""
    world = World()
    for _ in range(9):
        world.say("alice")
    world.dust_settles()
    mark = world.mark("alice")
    new = [world.say("alice") for _ in range(5)]
    world.dust_settles()
    assert world.paged("alice", 2, mark) == new[::-1]
    assert world.paged("alice", 2, world.mark("alice")) == []


def test_a_tweet_that_comes_before_its_author_is_known_to_be_followed_is_new_to_pollers():
    """Fan-out reads the tables, and may be ahead of the event of the follow."""
    world = World(least=60)
    mark = world.mark("alice")
    world.follow("alice", "bob")
    world.wait()
    said = world.say("bob")
    world.deliver(1)
    assert said.tweet_id in world.warm("alice").ids
    page = world.pages.home("alice", 20, since=mark)
    assert page.tweets == []
    world.dust_settles()
    assert world.pages.home("alice", 20, since=read_mark(page.newest)).tweets == [said]


def test_a_tweet_that_was_not_confirmed_is_new_to_pollers_when_it_is():
    """Its author was left, and is followed again, before anybody heard of either."""
    world = World(least=60)
    world.database.follows = {("alice", "bob")}
    mark = world.mark("alice")
    said = world.say("bob")
    world.follow("alice", "bob")
    world.writer.insert(said.tweet_id, ["alice"])
    world.now += LATE_SECONDS
    page = world.pages.home("alice", 20, since=mark)
    assert page.tweets == []
    world.follow("alice", "bob")
    assert world.pages.home("alice", 20, since=read_mark(page.newest)).tweets == [said]


def test_a_timeline_full_of_deleted_tweets_reads_on():
    """A window of the list may show nothing at all."""
    world = World()
    said = [world.say("alice") for _ in range(60)]
    world.dust_settles()
    ids = [one.tweet_id for one in said[::-1]]
    built = Timeline(ids, BEGINNING, Shown.of(["alice"]))
    world.cache.home.commit("alice", world.cache.home.begin("alice"), built)
    world.database.deleted = {*ids[:55]}
    assert world.paged("alice", 1) == said[4::-1]
    assert "database" not in world.sources
