"""How often each route asks DynamoDB, on the worst rows that it can meet; README.md has the same numbers."""

import pytest

from follow_service import grpc_api, lists, mutuals
from follow_service.graph_pb2 import DESCRIPTOR, GetCountsRequest, IsFollowingRequest, ListFollowersRequest
from murmuration_testkit.openapi import served

from .rows import follow

IDS = "&".join(f"id=u{n}" for n in range(100))
GONE = 2 * lists.LOOKED_AT  # rows at the top of each list, of accounts that were deleted
CANDIDATES = 2 * mutuals.LOOKED_AT
WORST = {
    "PUT /users/me": 2,
    "DELETE /users/me": 1,
    "GET /users/me": 1,
    f"GET /users?expand=viewer&{IDS}": 8,
    "GET /users/star?expand=viewer": 1,
    f"GET /relationships?{IDS}": 8,
    "POST /users/star/follow": 3,
    "DELETE /users/star/follow": 2,
    "DELETE /users/me/followers/star": 1,
    "POST /users/me/follow-requests/asker": 3,
    "DELETE /users/me/follow-requests/asker": 1,
    "PUT /users/star/block": 2,
    "DELETE /users/star/block": 1,
    "PUT /users/star/mute": 2,
    "DELETE /users/star/mute": 1,
    "GET /users/star/followers?limit=200&expand=viewer": 84,
    "GET /users/star/following?limit=200&expand=viewer": 38,
    "GET /users/me/follow-requests?limit=200&expand=viewer": 42,
    "GET /users/me/follow-requests/sent?limit=200&expand=viewer": 42,
    "GET /users/me/blocks?limit=200&expand=viewer": 36,
    "GET /users/me/mutes?limit=200&expand=viewer": 36,
    "GET /users/star/mutual-followers/rival?limit=200&expand=viewer": 47,
    "GET /users/star/friends?limit=200&expand=viewer": 45,
    "GET /suggestions?limit=200&expand=viewer": 12,  # from a run: test_suggestions_api.py
    "DELETE /suggestions/star": 2,
}

EVERYBODY = [f"u{n}" for n in range(100)]
WORST_OF_GRPC = {  # by method: its rule, what is asked, and the calls of one piece of work
    "IsFollowing": (grpc_api.is_following, IsFollowingRequest(user_ids=EVERYBODY), 4),
    "GetCounts": (grpc_api.get_counts, GetCountsRequest(user_ids=EVERYBODY), 3),
    "ListFollowers": (grpc_api.followers_page, ListFollowersRequest(user_id="star"), 64),
}


@pytest.fixture
def worst(aws, call, join):
    """A private star whom Alice follows, and a rival; all lists of all begin with accounts that were deleted."""
    join("star", "rival", "asker", "alice")
    for who in ("star", "rival"):
        call("alice", f"POST /users/{who}/follow")
    for who in ("star", "rival", "alice"):
        call(who, "PUT /users/me", display_name=who, is_private=True)
    call("asker", "POST /users/alice/follow")
    for n in range(GONE):
        row = {"created_at": {"N": "1"}, "deleted_at": {"N": "2"}}
        gone, at = {"S": f"gone{n}"}, {"N": str(2 * 10**12 + n)}
        aws.put("users", {"user_id": gone, **row})
        for me in ({"S": "star"}, {"S": "rival"}, {"S": "alice"}):
            for ends in ({"followee_id": me, "follower_id": gone}, {"followee_id": gone, "follower_id": me}):
                aws.put("followers", follow(ends["followee_id"]["S"], ends["follower_id"]["S"], at["N"]))
            aws.put("mutes", {"muter_id": me, "muted_id": gone, "muted_at": at})
            pair = {"S": f"{me['S']}#{gone['S']}"}
            aws.put("blocks", {"pair": pair, "blocker_id": me, "blocked_id": gone, "blocked_at": at})
        alice, other = {"S": "alice"}, {"S": f"other{n}"}  # a request beside a follow is looked at no further
        for ends in ({"followee_id": alice, "follower_id": other}, {"followee_id": other, "follower_id": alice}):
            aws.put("follow_requests", {**ends, "requested_at": at})


@pytest.fixture
def asks(aws, call):
    """Ask for something, and return how often the tables were asked."""

    def ask(what, **body):
        aws.calls.clear()
        assert call("alice", what, **body).status_code in (200, 202, 204)
        return aws.calls.total()

    return ask


def test_every_route_has_its_cost(http):
    """A new one needs its line here."""
    names = {"star": "<user_id>", "rival": "<other_id>", "asker": "<follower_id>"}
    known = set()
    for route in WORST:
        method, path = route.partition("?")[0].split()
        words = [names.get(word, word) for word in path.split("/")]
        if words[1:4] == ["users", "me", "followers"]:
            words[-1] = "<follower_id>"
        known.add(("/v1" + "/".join(words), method))
    assert known == served(http)


def test_every_method_of_grpc_has_its_cost():
    assert {each.name for each in DESCRIPTOR.services_by_name["Graph"].methods} == {*WORST_OF_GRPC}


@pytest.mark.usefixtures("worst")
@pytest.mark.parametrize("method", WORST_OF_GRPC)
def test_a_method_of_grpc_asks_so_often_at_most(graph, aws, method):
    """A stream is asked for page by page, so its cost is that of a page; all of the hundred are followed."""
    for who in EVERYBODY:
        edge = {"followee_id": {"S": who}, "follower_id": {"S": "alice"}, "followed_at": {"N": "1"}}
        aws.put("followers", edge)
    rule, request, cost = WORST_OF_GRPC[method]
    aws.calls.clear()
    rule(graph, "alice", request)
    assert aws.calls.total() == cost


@pytest.mark.usefixtures("worst")
@pytest.mark.parametrize("route", WORST, ids=lambda route: route.partition("?")[0])
def test_a_route_asks_so_often_at_most(asks, aws, route):
    """On lists that begin with deleted accounts, and on requests that died half-way."""
    body = {"display_name": "Alice", "is_private": False} if route.startswith("PUT /users/me") else {}
    if route.startswith("POST /users/star"):
        aws.delete("followers", {"followee_id": {"S": "star"}, "follower_id": {"S": "alice"}})
        left_over = {"followee_id": {"S": "star"}, "follower_id": {"S": "alice"}, "accepted_at": {"N": "1"}}
        aws.put("follow_requests", {**left_over, "requested_at": {"N": "1"}})
    assert asks(route, **body) == WORST[route]


@pytest.mark.parametrize(("path", "cost"), [("mutual-followers/rival", 75), ("friends", 73)])
def test_candidates_who_are_nothing_are_looked_at_in_few_requests(asks, aws, call, join, count, path, cost):
    """The longest list that anybody can have, in which nobody is what is asked for."""
    join("star", "rival", "alice")
    for who in ("star", "rival"):
        call("alice", f"POST /users/{who}/follow")
        call(who, "PUT /users/me", display_name=who, is_private=True)
        count(who, followers=10**6, following=CANDIDATES)
    for n in range(CANDIDATES):
        at = {"N": str(2 * 10**12 + n)}
        aws.put("followers", follow(f"c{n}", "star", at["N"]))
    assert asks(f"GET /users/star/{path}") == cost


def test_candidates_from_who_follows_another_are_looked_at_in_parts(asks, aws, join, count):
    """The shorter list may be that one: 24 requests for each reading of the index, side by side."""
    join("star", "rival", "alice")
    count("star", followers=1, following=10**6)
    count("rival", followers=CANDIDATES)
    for n in range(CANDIDATES):
        aws.put("followers", follow("rival", f"c{n}", 2 * 10**12 + n))
    assert asks("GET /users/star/mutual-followers/rival") == 234
