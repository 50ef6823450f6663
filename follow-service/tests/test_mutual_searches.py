"""Searches that are kept: what a store promises, in memory and in Redis; pages while what is kept comes and goes."""

from contextlib import closing
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from follow_service import mutual_searches, mutuals
from follow_service.dynamo_graph import dynamo_graph
from follow_service.lists import Row
from follow_service.mutual_searches import DEAR, FIRST_SECONDS, SECONDS, KeptSearches, Pair, Search
from follow_service.redis_mutuals import RedisSearches
from murmuration_runtime.redis_nodes import Nodes
from murmuration_testkit.unkind_aws import UnkindAws

from .memory_of_searches import MemorySearches
from .redis_kinds import KINDS, as_follow_service, kept_in
from .rows import follow, profile

NOW = 1_700_000_000_000
SEARCHES = [
    Search(">", 17),
    Search("<", 17, [Row("a:~|b", 5)], Row("c", 4)),
    Search(">", 17, [Row("a", 5), Row("b", 5)], None, is_whole=True, is_asked_again=True),
]


@pytest.fixture(params=KINDS)
def store(request):
    with kept_in(request, MemorySearches, RedisSearches) as store:
        yield store


@pytest.fixture
def pair():
    """Two ids that look like a key."""
    return Pair(f"a:{uuid4().hex}", "b:c")


def nothing(*_):
    """Count nothing."""


@pytest.mark.parametrize("search", SEARCHES)
def test_a_search_is_read_as_it_was_kept(store, pair, search):
    assert store.get(pair) is None
    store.put(pair, Search(">", 1), 9)
    store.put(pair, search, 9)
    assert store.get(pair) == search
    assert store.get(Pair(*pair[::-1])) is None


@pytest.mark.stack(shared=False)
def test_redis_keeps_for_a_day_only_what_is_asked_for_again(single, pair):
    """Else who walks through all pairs fills it. As the user of the ACL file, who needs no other right."""
    with as_follow_service(single) as nodes:
        searches, search = KeptSearches(RedisSearches(nodes), nothing), Search(">", NOW, has_changed=True)
        for lives in (FIRST_SECONDS, SECONDS):
            searches.keep(pair, DEAR + 1, search, NOW + 60_000)
            assert lives - 120 < single.redis.ttl(mutual_searches.key(pair)) <= lives - 60
            assert not searches.find(pair, DEAR + 1, is_first_page=False).has_changed
            search = searches.find(pair, DEAR + 1, is_first_page=True)
            assert search.began_at == NOW
        assert not search.has_changed  # and is not written with each page


def test_a_redis_that_is_not_there_disturbs_nobody(pair):
    outcomes = []
    with closing(Nodes("redis://127.0.0.1:9/0", 0.2, 0.2)) as nodes:
        searches = KeptSearches(RedisSearches(nodes), lambda *told: outcomes.append(told))
        assert searches.find(pair, DEAR + 1, is_first_page=True) is None
        searches.keep(pair, DEAR + 1, Search(">", NOW, has_changed=True), NOW)
    assert outcomes == [("mutuals", "away", 1)]


def test_a_search_is_not_kept_for_longer_because_it_went_on(pair):
    """Two hours later it has two hours less; after a day it is not kept at all."""
    store = MemorySearches()
    searches, search = KeptSearches(store, nothing), Search(">", NOW, is_asked_again=True, has_changed=True)
    for seconds in (0, 7_200, SECONDS - 1):
        searches.keep(pair, DEAR + 1, search, NOW + seconds * 1_000)
        assert store.lives[pair] == SECONDS - seconds
    store.lives.clear()
    searches.keep(pair, DEAR + 1, search, NOW + SECONDS * 1_000)
    assert not store.lives


PEOPLE = [f"p{n:02}" for n in range(12)]  # whom Alice follows; two thirds of them follow star
MOVES = st.lists(st.tuples(st.sampled_from(PEOPLE), st.sampled_from(["follow", "unfollow", "forget"])), max_size=12)


class Moving:
    """Pages of mutual followers, between which others come and leave, and what is kept is forgotten."""

    def __init__(self, together):
        """together: so many were followed at once."""
        self.aws, self.kept = UnkindAws(), MemorySearches()
        self.graph = dynamo_graph(self.aws.client(), "", searches=self.kept, dear=0)
        for who in (*PEOPLE, "alice", "star"):
            self.aws.put("users", profile(who, followers_count=9))
        for n, who in enumerate(PEOPLE):
            self.aws.put("followers", follow(who, "alice", n // together))
            if n % 3:
                self.move(who, "follow")

    def move(self, who, how):
        if how == "follow":
            self.aws.put("followers", follow("star", who, 50))
        elif how == "unfollow":
            self.aws.delete("followers", {"followee_id": {"S": "star"}, "follower_id": {"S": who}})
        else:
            self.kept.texts.clear()

    def paged(self, limit, moves):
        left, found, cursor = [*moves], [], None
        while True:
            who = Pair("alice", "star"), "alice"
            answer = mutuals.page(self.graph.lists, self.graph.searches, self.graph.people, *who, limit, cursor, 0)
            found += [row.user_id for row in answer.page.rows]
            if (cursor := answer.next_cursor) is None:
                return found
            for move in [left.pop() for _ in left[:3]]:
                self.move(*move)


@given(MOVES, st.integers(1, 5), st.integers(1, 4), st.booleans())
def test_no_page_skips_or_repeats_whoever_stays(moves, limit, together, has_begun):
    """Whether the search was kept when they began, or stems from an earlier reader, or is lost between two pages."""
    moving = Moving(together)
    if has_begun:
        moving.paged(2, [])
    found = moving.paged(limit, moves)
    assert len(found) == len({*found})
    assert {who for n, who in enumerate(PEOPLE) if n % 3} - {who for who, _ in moves} <= {*found}
    moments = [PEOPLE.index(who) // together for who in found]
    assert moments == sorted(moments, reverse=True)
