"""What a Cache promises: in memory, on a single Redis and on a cluster of them."""

from contextlib import closing

import pytest

from contracts.profiles import Display, Profile
from follow_service import cache
from follow_service.cache import BUSY, MOST, Kind, Member, Newest, State
from follow_service.lists import Row
from follow_service.redis_cache import RedisCache
from murmuration_runtime.errors import RedisAwayError
from murmuration_runtime.redis_nodes import Nodes

from .memory import MemoryCache
from .redis_kinds import KINDS, as_follow_service, kept_in

FOLLOWERS = Kind.FOLLOWERS


@pytest.fixture(params=KINDS)
def kept(request):
    with kept_in(request, MemoryCache, RedisCache) as kept:
        yield kept


@pytest.fixture
def real(single):
    with closing(Nodes(single.url, 2, 2)) as nodes:
        yield RedisCache(nodes)


def state(user_id, version, name="Ana"):
    return State(user_id, version, Profile(user_id, name, False, 1_234, 5, 17, Display("1.2K", "5")))


def rows(*told):
    return [Row(user_id, at) for user_id, at in told]


def fill(kept, kind, owner, newest):
    assert kept.commit(kind, owner, kept.begin(kind, owner), newest)


def apply(kept, changed, at, edition="e1"):
    for each in kept.note(edition, [changed]):
        kept.agree(edition, {each: at})


def test_a_state_is_kept_whole(kept, ana):
    kept.keep([state(ana, 7), State("gone", 3, None)])
    known = kept.look("viewer", [ana, "gone", "nobody"])
    assert known.states == {ana: state(ana, 7), "gone": State("gone", 3, None)}


@pytest.mark.parametrize("put", ["keep", "tell"])
def test_a_state_never_replaces_a_later_one(kept, ana, put):
    """A fill that read before the event, and an event that comes again."""
    kept.tell([state(ana, 9, "Later")])
    getattr(kept, put)([state(ana, 8, "Earlier")])
    assert kept.look("viewer", [ana]).states == {ana: state(ana, 9, "Later")}
    getattr(kept, put)([State(ana, 10, None)])
    assert kept.look("viewer", [ana]).states == {ana: State(ana, 10, None)}


def test_blocks_are_known_once_both_lists_are_kept(kept, ana):
    assert kept.look(ana, ["bob"]).certain == set()
    fill(kept, Kind.BLOCKING, ana, Newest(rows(("bob", 4)), whole=True))
    assert kept.look(ana, ["bob"]).certain == set()
    fill(kept, Kind.BLOCKED, ana, Newest(rows(("cy", 0)), whole=True))
    known = kept.look(ana, ["bob", "cy", "di"])
    assert known.blocks == {(ana, "bob"), ("cy", ana)}
    assert known.certain == {"bob", "cy", "di"}


def test_of_a_list_that_is_not_whole_only_its_members_are_certain(kept, ana):
    fill(kept, Kind.BLOCKING, ana, Newest(rows(("bob", 4)), whole=False))
    fill(kept, Kind.BLOCKED, ana, Newest([], whole=True))
    assert kept.look(ana, ["bob", "di"]).certain == {"bob"}


def test_a_list_is_read_as_it_was_filled(kept, ana):
    assert kept.newest(FOLLOWERS, ana, 3) is None
    whole = Newest(rows(("cy", 3), ("bob", 2), ("di", 1)), whole=True)
    fill(kept, FOLLOWERS, ana, whole)
    assert kept.newest(FOLLOWERS, ana, 3) == whole
    assert kept.newest(FOLLOWERS, ana, 2) == Newest(whole.rows[:2], whole=False)


def test_nobody_fills_a_list_beside_another_or_in_the_place_of_one(kept, ana):
    begun = kept.begin(FOLLOWERS, ana)
    assert kept.begin(FOLLOWERS, ana) is None
    assert kept.newest(FOLLOWERS, ana, 3) is None
    assert kept.commit(FOLLOWERS, ana, begun, Newest([], whole=True))
    assert kept.begin(FOLLOWERS, ana) is None
    assert not kept.commit(FOLLOWERS, ana, begun, Newest(rows(("bob", 1)), whole=True))


def test_a_change_takes_the_mark_away_and_is_told_to_the_next(kept, ana):
    """What was read before the change is not kept; who reads next looks at the table itself."""
    begun = kept.begin(FOLLOWERS, ana)
    assert kept.note("e1", [Member(FOLLOWERS, ana, "bob")]) == []
    assert not kept.commit(FOLLOWERS, ana, begun, Newest([], whole=True))
    assert [*kept.begin(FOLLOWERS, ana).noted] == ["bob"]


def test_a_list_that_changes_too_fast_to_be_read_is_left_alone_for_a_while(kept, ana):
    """Else each reader would begin anew, with a thousand rows of the busiest partition, and in vain."""
    kept.note("e1", [Member(FOLLOWERS, ana, f"u{n}") for n in range(BUSY)])
    begun = kept.begin(FOLLOWERS, ana)
    for _ in range(2):
        kept.note("e2", [Member(FOLLOWERS, ana, "bob")])
        assert kept.begin(FOLLOWERS, ana) is None
        assert kept.newest(FOLLOWERS, ana, 9) is None
    kept.agree("e2", {Member(FOLLOWERS, ana, "bob"): 5})
    assert not kept.commit(FOLLOWERS, ana, begun, Newest([], whole=True))
    assert kept.newest(FOLLOWERS, ana, 9) is None


def test_a_change_changes_a_kept_list(kept, ana):
    fill(kept, FOLLOWERS, ana, Newest(rows(("bob", 2)), whole=True))
    apply(kept, Member(FOLLOWERS, ana, "cy"), 3)
    assert kept.newest(FOLLOWERS, ana, 9) == Newest(rows(("cy", 3), ("bob", 2)), whole=True)
    apply(kept, Member(FOLLOWERS, ana, "bob"), None, "e2")
    apply(kept, Member(FOLLOWERS, ana, "cy"), None, "e3")
    assert kept.newest(FOLLOWERS, ana, 9) == Newest([], whole=True)
    apply(kept, Member(FOLLOWERS, ana, "bob"), 7, "e4")
    assert kept.newest(FOLLOWERS, ana, 9) == Newest(rows(("bob", 7)), whole=True)


def test_who_looked_before_another_changed_the_list_drops_it(kept, ana):
    """A worker that stood still while another took its partition knows something old."""
    fill(kept, FOLLOWERS, ana, Newest([], whole=True))
    change = Member(FOLLOWERS, ana, "bob")
    assert kept.note("slow", [change]) == [change]
    apply(kept, change, 5, "fast")
    kept.agree("slow", {change: None})
    assert kept.newest(FOLLOWERS, ana, 9) is None


def test_a_list_keeps_its_newest(kept, ana):
    """Below the last one kept the table serves, so nobody is added there."""
    fill(kept, FOLLOWERS, ana, Newest(rows(*((f"u{at}", at) for at in range(MOST, 0, -1))), whole=True))
    added = {Member(FOLLOWERS, ana, f"new{at}"): at for at in range(MOST + 1, MOST + 102)}
    kept.note("e1", added)
    kept.agree("e1", added)
    newest = kept.newest(FOLLOWERS, ana, 2_000)
    assert [row.at for row in newest.rows] == [*range(MOST + 101, 101, -1)]
    assert not newest.whole
    apply(kept, Member(FOLLOWERS, ana, "late"), 50, "e2")
    assert kept.newest(FOLLOWERS, ana, 2_000) == newest


@pytest.mark.stack(shared=False)
def test_nothing_kept_lives_for_ever(real, single, ana):
    """Nor does a change, or an event, let it live longer."""
    real.keep([state(ana, 1)])
    fill(real, FOLLOWERS, ana, Newest([], whole=True))
    keys = [cache.profile_key(ana), cache.list_key(FOLLOWERS, ana), cache.noted_key(FOLLOWERS, ana)]
    for key in keys[:2]:
        assert cache.SECONDS - 60 <= single.redis.ttl(key) <= cache.SECONDS
        single.redis.expire(key, 100)
    real.tell([state(ana, 2)])
    apply(real, Member(FOLLOWERS, ana, "bob"), 5)
    apply(real, Member(FOLLOWERS, ana, "bob"), None, "e2")
    apply(real, Member(FOLLOWERS, ana, "bob"), 6, "e3")
    assert all(0 < single.redis.ttl(key) <= 100 for key in keys)
    real.tell([state(f"{ana}-2", 1)])
    assert 0 < single.redis.ttl(cache.profile_key(f"{ana}-2")) <= cache.GUARD_SECONDS
    real.begin(Kind.FOLLOWING, ana)
    assert 0 < single.redis.ttl(cache.list_key(Kind.FOLLOWING, ana)) <= cache.FILL_SECONDS


@pytest.mark.stack(shared=False)
def test_a_redis_that_is_not_there_is_away(ana):
    """Each call says so by the one error that its callers expect."""
    away = RedisCache(Nodes("redis://127.0.0.1:9/0", 0.2, 0.2))
    for call in (
        lambda: away.look(ana, ["bob"]),
        lambda: away.newest(FOLLOWERS, ana, 1),
        lambda: away.keep([state(ana, 1)]),
        lambda: away.begin(FOLLOWERS, ana),
        lambda: away.note("e", [Member(FOLLOWERS, ana, "bob")]),
    ):
        with pytest.raises(RedisAwayError):
            call()


@pytest.mark.stack(shared=False)
def test_the_user_of_the_acl_file_may_do_all_of_this(single, ana):
    with as_follow_service(single) as nodes:
        kept = RedisCache(nodes)
        kept.check()
        kept.keep([state(ana, 1)])
        kept.tell([state(ana, 2)])
        for kind in Kind:
            fill(kept, kind, ana, Newest(rows(*((f"u{at}", at) for at in range(MOST, 0, -1))), whole=True))
            added = {Member(kind, ana, f"new{at}"): at for at in range(MOST + 1, MOST + 102)}
            kept.note("e1", added)
            kept.agree("e1", added)
            apply(kept, Member(kind, ana, f"new{MOST + 1}"), None, "e2")
            assert len(kept.newest(kind, ana, 2_000).rows) == MOST - 1
        assert kept.look(ana, ["u900", ana]).states == {ana: state(ana, 2)}
