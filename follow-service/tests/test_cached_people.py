"""What is shown of others from what is kept: on DynamoDB in memory, with a Cache that may be away."""

from collections import Counter

import pytest

from contracts import BlockChanged, FollowChanged, Source
from contracts.tables import FOLLOWERS
from follow_service import keeper
from follow_service.app import create_app
from follow_service.cache import Kind
from follow_service.cached_people import CachedLists
from follow_service.dynamo_adjacency import DynamoAdjacency
from follow_service.dynamo_graph import dynamo_graph
from follow_service.dynamo_lists import DynamoLists
from follow_service.lists import Listed, Row
from follow_service.settled_cache import SettledCache
from murmuration_runtime.errors import RedisAwayError, StoreAwayError

from .conftest import ISSUER, SETTINGS
from .memory import MemoryCache, MemoryPages

SOURCE = Source("shard-1", 1)


class Asked:
    """A client that counts its calls; none of them is answered while it is silent."""

    def __init__(self, client):
        self._client, self.calls, self.is_silent = client, Counter(), False

    def __getattr__(self, name):
        told = getattr(self._client, name)
        if name == "exceptions":
            return told

        def ask(**asked):
            self.calls[name] += 1
            if self.is_silent:
                raise StoreAwayError(name)
            return told(**asked)

        return ask


class Away:
    """A Cache that does not answer."""

    def __getattr__(self, name):
        def refuse(*_):
            raise RedisAwayError(name)

        return refuse


@pytest.fixture
def cache():
    return MemoryCache()


@pytest.fixture
def dynamodb(aws):
    return Asked(aws.client())


@pytest.fixture
def reads():
    return Counter()


@pytest.fixture
def graph(dynamodb, cache, reads):
    return dynamo_graph(
        dynamodb, "", cache=cache, count=lambda of, outcome, number: reads.update({(of, outcome): number})
    )


@pytest.fixture
def tables(aws):
    return DynamoAdjacency(aws.client(), "", DynamoLists(aws.client(), ""))


@pytest.fixture
def tell(cache, tables):
    """Have the keeper hear of an edge, or of a block."""

    def apply(kind, who, whom):
        keeper.apply(cache, MemoryPages(), tables, [kind("e", SOURCE, who, whom, True)], 0)

    return apply


def edge_at(who, at):
    """Return the row of who follows star."""
    key = {"followee_id": {"S": "star"}, "follower_id": {"S": who}}
    return {**key, "followed_at": {"N": str(at)}, "part": {"S": FOLLOWERS.part_of("star", who)}}


def names(answer):
    return [each["user_id"] for each in answer.json["users"]]


def test_a_profile_is_read_of_the_tables_once(join, call, dynamodb, reads):
    join("alice", "bob")
    first = call("alice", "GET /users/bob")
    dynamodb.calls.clear()
    again = call("alice", "GET /users/bob")
    assert again.json == first.json
    assert again.json["display_name"] == "Bob"
    assert not dynamodb.calls
    assert reads == {("profiles", "miss"): 1, ("profiles", "hit"): 1}


def test_who_deletes_their_account_is_gone_for_others_at_once(join, call):
    """Before any event came; a list of which they are the owner too."""
    join("alice", "bob")
    assert call("alice", "GET /users/bob").status_code == 200
    assert call("alice", "GET /users/bob/followers").status_code == 200
    assert call("bob", "DELETE /users/me").status_code == 204
    assert call("alice", "GET /users/bob").status_code == 404
    assert call("alice", "GET /users/bob/followers").status_code == 404


def test_who_turns_private_closes_their_lists_to_others_at_once(join, call):
    """Before any event came."""
    join("alice", "bob")
    assert call("alice", "GET /users/bob/followers").status_code == 200
    call("bob", "PUT /users/me", display_name="Bob", is_private=True)
    assert call("alice", "GET /users/bob").json["is_private"]
    assert call("alice", "GET /users/bob/followers").status_code == 403


def test_ones_own_profile_and_ties_are_the_tables(join, call):
    join("alice", "bob")
    call("alice", "GET /users/bob")
    call("alice", "PUT /users/me", display_name="Ally")
    assert call("alice", "GET /users/alice").json["display_name"] == "Ally"
    both = call("alice", "GET /users?id=alice&id=bob").json["users"]
    assert [each["display_name"] for each in both] == ["Ally", "Bob"]
    call("alice", "POST /users/bob/follow")
    assert call("alice", "GET /users/bob?expand=viewer").json["viewer"]["following"]
    assert [each["following"] for each in call("alice", "GET /relationships?id=bob").json["relationships"]] == [True]


def test_the_blocked_sees_nobody_once_the_block_is_told(join, call, tell):
    join("alice", "bob")
    for one, other in (("alice", "bob"), ("bob", "alice")):
        assert call(one, f"GET /users/{other}").status_code == 200
    assert call("bob", "PUT /users/alice/block").status_code == 204
    tell(BlockChanged, "bob", "alice")
    assert call("alice", "GET /users/bob").status_code == 404
    assert call("alice", "GET /users/bob/followers").status_code == 404
    assert call("bob", "GET /users/alice").json["blocking"] is True
    assert call("bob", "DELETE /users/alice/block").status_code == 204
    tell(BlockChanged, "bob", "alice")
    assert call("alice", "GET /users/bob").status_code == 200


def test_a_block_from_before_anything_was_kept_is_respected(join, call):
    join("alice", "bob")
    assert call("bob", "PUT /users/alice/block").status_code == 204
    for _ in range(2):
        assert call("alice", "GET /users/bob").status_code == 404
        assert call("bob", "GET /users/alice").json["blocking"] is True


@pytest.fixture
def circle(join, call, tell):
    """Bob, whom Alice has seen, blocks her, Dave has left, and both follow Carol; all of that is kept."""
    join("alice", "bob", "carol", "dave", "erin")
    for who in ("bob", "dave", "erin"):
        call(who, "POST /users/carol/follow")
    for who in ("bob", "carol", "dave"):
        assert call("alice", f"GET /users/{who}").status_code == 200
    assert names(call("alice", "GET /users/carol/followers")) == ["erin", "dave", "bob"]
    call("bob", "PUT /users/alice/block")
    tell(BlockChanged, "bob", "alice")
    call("dave", "DELETE /users/me")


BY_NAME = ["/users/{}", "/users?id={}", "/users?id=carol&id={}", "/users/{}/followers", "/users/{}/following"]


@pytest.mark.usefixtures("circle")
@pytest.mark.parametrize("path", BY_NAME)
def test_who_blocks_costs_as_much_as_an_id_that_nobody_has(call, dynamodb, path):
    """How long an answer takes tells nothing of a block. Who is gone is one more whom it cannot be."""
    told = []
    for who in ("bob", "dave", "nobody"):
        dynamodb.calls.clear()
        answer = call("alice", f"GET {path.format(who)}")
        told.append((answer.status_code, answer.json.get("users"), dynamodb.calls.copy()))
    assert told == told[:1] * 3
    assert told[0][2].total() == 1


@pytest.mark.usefixtures("circle")
@pytest.mark.parametrize("path", BY_NAME)
def test_who_blocks_is_refused_as_an_id_that_nobody_has_while_the_tables_are_silent(call, dynamodb, path):
    dynamodb.is_silent = True
    assert [call("alice", f"GET {path.format(who)}").status_code for who in ("bob", "dave", "nobody")] == [503] * 3
    assert call("alice", f"GET {path.format('carol').replace('following', 'followers')}").status_code == 200


@pytest.mark.usefixtures("circle")
def test_whom_a_list_hides_costs_no_reading_of_the_tables(call, dynamodb):
    """The viewer did not name them, and sees that nobody is missing."""
    dynamodb.calls.clear()
    assert names(call("alice", "GET /users/carol/followers")) == ["erin"]
    assert not dynamodb.calls


def test_who_unblocks_is_seen_at_once_by_whoever_asks_for_them(join, call, tell):
    """Before any event came: that they block is not taken from what is kept."""
    join("alice", "bob")
    call("alice", "GET /users/bob")
    call("bob", "PUT /users/alice/block")
    tell(BlockChanged, "bob", "alice")
    assert call("alice", "GET /users/bob").status_code == 404
    call("bob", "DELETE /users/alice/block")
    assert call("alice", "GET /users/bob").status_code == 200


def test_a_list_is_read_of_the_tables_once_and_changes_by_events(join, call, tell, dynamodb, reads):
    join("alice", "bob", "carol", "dave")
    assert names(call("alice", "GET /users/bob/followers")) == []
    call("carol", "POST /users/bob/follow")
    tell(FollowChanged, "carol", "bob")
    call("dave", "POST /users/bob/follow")
    tell(FollowChanged, "dave", "bob")
    assert names(call("alice", "GET /users/bob/followers?expand=author")) == ["dave", "carol"]
    dynamodb.calls.clear()
    assert names(call("alice", "GET /users/bob/followers?expand=author")) == ["dave", "carol"]
    assert not dynamodb.calls
    call("carol", "DELETE /users/bob/follow")
    tell(FollowChanged, "carol", "bob")
    assert names(call("alice", "GET /users/bob/followers")) == ["dave"]
    assert reads["followers", "miss"] == 1


def test_ones_own_lists_are_the_tables(join, call):
    join("alice", "bob")
    assert names(call("bob", "GET /users/bob/followers")) == []
    call("alice", "POST /users/bob/follow")
    assert names(call("bob", "GET /users/bob/followers")) == ["alice"]


def test_a_cursor_goes_on_where_what_is_kept_ends(join, call, aws):
    """Also where two came at once, at whatever page it ends."""
    people = [f"u{number}" for number in range(12)]
    join("alice", "star", *people)
    for place, who in enumerate(people):
        edge = edge_at(who, place // 2 + place)
        aws.client().put_item(TableName="followers", Item=edge)
    for limit in (1, 2, 3, 5, 11, 12, 13):
        found, cursor = [], ""
        while True:
            page = call("alice", f"GET /users/star/followers?limit={limit}{cursor}")
            found += names(page)
            if page.json["next_cursor"] is None:
                break
            cursor = f"&cursor={page.json['next_cursor']}"
        assert found == [*reversed(people)], limit


def test_where_two_came_at_once_the_index_is_asked(cache, tables, graph, aws):
    """Only it knows which of them is next."""
    for who, at in (("a", 9), ("b", 5), ("c", 5), ("d", 2)):
        edge = edge_at(who, at)
        aws.client().put_item(TableName="followers", Item=edge)
    lists = CachedLists(cache, tables, graph.lists, lambda *_: None)
    for _ in range(2):
        assert lists.rows(Listed.FOLLOWERS, "star", 9, None) == ([Row("a", 9)], Row("a", 9))
    assert cache.newest(Kind.FOLLOWERS, "star", 9).whole


def test_all_is_served_while_the_cache_is_away(join, call, dynamodb, reads, clock):
    away = dynamo_graph(
        dynamodb, "", cache=Away(), count=lambda of, outcome, number: reads.update({(of, outcome): number})
    )
    join("alice", "bob")
    call("alice", "POST /users/bob/follow")
    http = create_app(SETTINGS, graph=away, keys=ISSUER, now=lambda: clock.now).test_client()
    carol = ISSUER.bearer("carol")
    assert http.get("/v1/users/bob", headers=carol).json["display_name"] == "Bob"
    answer = http.get("/v1/users/bob/followers?expand=author", headers=carol)
    assert names(answer) == ["alice"]
    assert {outcome for _, outcome in reads} == {"away"}


def test_what_is_not_known_to_be_settled_is_not_shown(dynamodb, cache, clock, join, call, reads):
    """Events stand still: the tables say who is blocked and who follows; what is kept serves again when they go on."""
    settled = [True]
    graph = dynamo_graph(
        dynamodb,
        "",
        cache=SettledCache(cache, lambda: settled[0]),
        count=lambda of, outcome, number: reads.update({(of, outcome): number}),
    )
    http = create_app(SETTINGS, graph=graph, keys=ISSUER, now=lambda: clock.now).test_client()

    def ask(path):
        return http.get(f"/v1{path}", headers=ISSUER.bearer("carol"))

    join("alice", "bob", "carol")
    assert ask("/users/alice").status_code == ask("/users/bob/followers").status_code == 200
    call("alice", "PUT /users/carol/block")
    call("alice", "POST /users/bob/follow")
    settled[0] = False
    reads.clear()
    assert ask("/users/alice").status_code == 404
    assert names(ask("/users/bob/followers")) == []  # she blocks who asks
    assert {outcome for _, outcome in reads} == {"away"}
    settled[0] = True
    dynamodb.calls.clear()
    assert ask("/users/bob").status_code == 200
    assert not dynamodb.calls


def test_what_a_cold_cache_costs(join, call, dynamodb):
    """Calls of DynamoDB: what was asked for, and what is read to be kept; at the second time none."""
    people = [f"u{number}" for number in range(12)]
    join("alice", "bob", "star", *people)
    for who in people:
        call(who, "POST /users/star/follow")
    costs = []
    for who, path in (
        ("alice", "/users/star"),
        ("alice", "/users/star/followers?limit=10&expand=author"),
        ("bob", "/users/star/followers?limit=10&expand=author"),
    ):
        for _ in range(2):
            dynamodb.calls.clear()
            assert call(who, f"GET {path}").status_code == 200
            costs.append(dynamodb.calls.total())
    assert costs == [3, 0, 24, 0, 3, 0]  # a reading of followers is 24; who joined just now is kept already
