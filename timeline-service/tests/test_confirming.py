"""While it is not known that edges are settled, nobody is shown whom the tables do not name."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from murmuration_runtime.errors import StoreAwayError, StoreBusyError, StoreRefusedError
from murmuration_runtime.settled import LATE_SECONDS
from timeline_service.confirming import MOST, Confirmation, UnconfirmedError

from .conftest import tweet
from .world import HOME_COMMIT, World

LIMIT = 4


@pytest.fixture
def world():
    """Alice reads two, warm; what happens to her edges from now on comes to nobody."""
    world = World(cap=60, least=60)
    for author in ("bob", "carol"):
        world.database.follows.add(("alice", author))
    for _ in range(LIMIT):
        for author in ("alice", "bob", "carol"):
            world.say(author)
    world.dust_settles()
    world.paged("alice", LIMIT)
    world.confirmed.clear()
    world.database.confirmations.clear()
    world.edges_are_settled()
    return world


person = st.sampled_from(["alice", "bob", "carol"])
number = st.integers(0, 50)
steps = st.one_of(
    st.tuples(st.just(World.say), person),
    st.tuples(st.just(World.say), person),
    st.tuples(st.just(World.follow), person, person),
    st.tuples(st.just(World.mute), person, person),
    st.tuples(st.just(World.promote), person),
    st.tuples(st.just(World.deliver), number),
    st.tuples(st.just(World.replay), number),
    st.tuples(st.just(World.deliver_late), person, number),
    st.tuples(st.just(World.evict), person),
    st.tuples(st.just(World.shorten), person, st.integers(1, 5)),
)


@given(st.lists(steps, min_size=10, max_size=40), st.integers(1, 5))
def test_whatever_happened_no_page_shows_whom_the_tables_do_not_name_now(history, limit):
    """On any page, from the cache, a rebuild or the database, while nobody knows of edges and the index lags."""
    world = World()
    world.edges_mark.until = 0.0
    world.database.follows = {("alice", "bob"), ("alice", "carol"), ("bob", "carol")}
    for author in ("alice", "bob", "carol"):
        world.say(author)
    for step, *arguments in history:
        step(world, *arguments)
        for user in ("alice", "bob"):
            followed = {followee for who, followee in world.database.follows - world.database.mutes if who == user}
            assert authors(world.paged(user, limit)) <= {user, *followed}


def authors(tweets):
    return {tweet.author_id for tweet in tweets}


def test_a_page_asks_nobody_while_edges_are_settled(world):
    """Who left a moment ago still shows: normal is a second."""
    world.now += LATE_SECONDS - 0.1
    world.follow("alice", "bob")
    assert authors(world.paged("alice", LIMIT)) == {"alice", "bob", "carol"}
    assert (world.database.confirmations, world.confirmed) == ([], [])


@pytest.mark.parametrize("leave", [World.follow, World.mute])
def test_who_left_is_not_shown_while_edges_are_not_known_to_be_settled(world, leave):
    """Nor who was muted; pages are full all the same, and say what came of it, until edges are settled again."""
    leave(world, "alice", "bob")
    world.now += LATE_SECONDS
    assert world.paged("alice", LIMIT) == world.database.truth("alice")
    assert world.confirmed[0] == "left"
    world.confirmed.clear()
    world.dust_settles()
    world.edges_are_settled()
    assert world.paged("alice", LIMIT) == world.database.truth("alice")
    assert world.confirmed == []


def joined_late(world):
    """Have the next rebuild, or read far down, be one that another page began before Bob was left."""
    run = world.builder.run

    def join(name, work):
        built = run(name, work)
        world.follow("alice", "bob")
        return built

    world.builder.run = join


@pytest.mark.parametrize("lose", [lambda world: world.evict("alice"), World.take_redis_away])
def test_who_left_after_a_rebuild_had_read_them_is_not_shown_to_who_joins_it(world, lose):
    """Edges are settled in Redis, and what is shown does not come from there."""
    world.now += 100
    world.edges_are_settled()
    below = world.say("alice").tweet_id
    world.dust_settles()
    lose(world)
    joined_late(world)
    assert authors(world.pages.home("alice", LIMIT, below).tweets) == {"alice", "carol"}
    assert world.confirmed == ["left"]


def test_a_rebuild_that_cannot_be_confirmed_is_refused(world):
    """That edges are settled in Redis says nothing about whom it read."""
    world.evict("alice")
    world.during(HOME_COMMIT, lambda world: setattr(world.database, "hangs", True))
    world.heard_at = world.now
    with pytest.raises(StoreAwayError):
        world.pages.home("alice", LIMIT)
    assert world.confirmed == ["refused"]


def test_a_mark_that_nobody_wrote_and_one_from_the_future_are_not_known(world):
    """Redis lost it, or a clock is wrong: then pages confirm."""
    world.follow("alice", "bob")
    for lose in (world.nodes.values.clear, lambda: setattr(world, "now", world.now - 60)):
        world.edges_are_settled()
        lose()
        world.edges_mark.refresh()
        assert authors(world.paged("alice", LIMIT)) == {"alice", "carol"}


def test_each_author_is_asked_about_once_a_page_and_the_reader_never(world):
    """A page of two others asks about two, whatever they said."""
    world.now += LATE_SECONDS
    world.pages.home("alice", 3 * LIMIT)
    assert world.database.confirmations == [2]
    assert world.confirmed == ["same"]


def test_however_many_left_a_page_asks_a_few_times():
    """From the second time on about a hundred tweets together."""
    crowd = [f"author-{n}" for n in range(120)]
    world = World(cap=400, least=60)
    for author in crowd:
        world.database.follows.add(("alice", author))
        world.say(author)
    world.say("alice")
    world.dust_settles()
    world.paged("alice", LIMIT)
    world.database.follows.clear()
    world.now += LATE_SECONDS
    world.database.confirmations.clear()
    assert authors(world.pages.home("alice", LIMIT).tweets) == {"alice"}
    assert sum(world.database.confirmations) == len(crowd)
    assert len(world.database.confirmations) <= 6


def test_a_page_asks_about_so_many_authors_at_most(world):
    """Beyond that it is refused, and can be asked for again soon."""
    confirmation = Confirmation("alice", world.database.read_by, lambda: True)
    confirmation.keep([tweet(n, f"author {n}") for n in range(MOST - 1)])
    with pytest.raises(UnconfirmedError):
        confirmation.keep([tweet(MOST, "one more")])
    assert confirmation.outcome == "refused"


def test_a_page_that_cannot_be_confirmed_is_refused(world):
    """Edges were late already when DynamoDB fell silent: who left may be among them."""
    world.follow("alice", "bob")
    world.now += LATE_SECONDS + 1
    world.heard_at, world.database.hangs = world.now, True
    with pytest.raises(StoreAwayError):
        world.pages.home("alice", LIMIT)
    assert world.confirmed == ["refused"]


def test_what_was_settled_when_dynamodb_fell_silent_goes_on_to_show(world):
    """Nobody can leave while it is away; and it is asked once a page."""
    world.heard_at, world.database.hangs = world.now + LATE_SECONDS - 1, True
    world.now += 3_600
    assert authors(world.pages.home("alice", 3 * LIMIT).tweets) == {"alice", "bob", "carol"}
    assert world.confirmed == ["unanswered"]
    assert len(world.database.confirmations) == 1


def test_while_dynamodb_answers_others_nothing_rests_on_redis(world):
    """Edges are settled until after it fell silent to us: who left meanwhile may be among them."""
    world.heard_at, world.database.hangs = world.now, True
    world.now += 3_600
    world.edges_are_settled()
    world.now += LATE_SECONDS
    with pytest.raises(StoreAwayError):
        world.pages.home("alice", LIMIT)
    assert world.confirmed == ["refused"]


@pytest.mark.parametrize("error", [StoreRefusedError, StoreBusyError])
def test_while_dynamodb_answers_us_but_not_this_nothing_rests_on_redis(world, error):
    """It answers everybody else, so people leave."""

    def refuse(_user_id, _author_ids):
        raise error("not this, or not now")

    world.heard_at, world.database.read_by = world.now, refuse
    world.now += LATE_SECONDS
    with pytest.raises(error):
        world.pages.home("alice", LIMIT)
    assert world.confirmed == ["refused"]


def test_pages_of_ones_own_need_no_confirmation(world):
    """Also while DynamoDB is away."""
    world.now += LATE_SECONDS
    world.heard_at, world.database.hangs = world.now, True
    world.say("dora")
    world.edges_mark.until = world.now
    world.dust_settles()
    world.pages.home("dora", LIMIT)
    world.edges_mark.until = 0.0
    assert authors(world.pages.home("dora", LIMIT).tweets) == {"dora"}
