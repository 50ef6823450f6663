"""gRPC answers as HTTP does: the same people, refused for the same reasons, at the same cost."""

import itertools
import json
import logging
import threading
import time
from dataclasses import replace
from types import SimpleNamespace

import grpc
import pytest

from follow_service import api
from follow_service.grpc_api import COST_OF_CURSOR, COSTS, ROUTES
from follow_service.grpc_calls import STATUSES
from follow_service.kept_pages import KeptPages
from follow_service.suggestion_lists import SuggestionLists
from murmuration_edge.limits import EXTRA_COSTS
from murmuration_edge.problems import EVERYWHERE, WITH_CURSOR, WITH_QUERY
from murmuration_runtime import deadlines
from murmuration_testkit.tokens import Issuer
from murmuration_testkit.waiting import eventually

from .conftest import ISSUER, SETTINGS
from .grpc_calling import client, serving, told
from .rows import follow

PEOPLE = [
    *("public", "followed", "private", "accepted", "asked", "blocker", "blocked", "muted", "gone", "followed_gone"),
    *("nobody", "no{body", "", "me", "viewer"),
]
VIEWERS = ["viewer", "gone", "nobody", "private", "blocker"]


@pytest.fixture
def server(graph):
    with serving(graph, SETTINGS, ISSUER) as running:
        yield running


@pytest.fixture
def rpc(server):
    with client(server.port, ISSUER) as asking:
        yield asking


@pytest.fixture
def world(call, join, count):
    """Everybody whom a viewer can meet; each is followed by a fan."""
    join("viewer", "fan", *(who for who in PEOPLE[:10]))
    for who in ("accepted", "asked", "private"):
        call(who, "PUT /users/me", display_name=who, is_private=True)
    for who in ("followed", "accepted", "asked", "blocker", "blocked", "muted", "followed_gone"):
        call("viewer", f"POST /users/{who}/follow")
        count("viewer", following=0)
    for who in PEOPLE[:10]:
        call("fan", f"POST /users/{who}/follow")
        call(who, "POST /users/me/follow-requests/fan")
        count(who, followers=7, following=3)
    call("accepted", "POST /users/me/follow-requests/viewer")
    call("blocker", "PUT /users/viewer/block")
    call("viewer", "PUT /users/blocked/block")
    call("viewer", "PUT /users/muted/mute")
    for who in ("gone", "followed_gone"):
        call(who, "DELETE /users/me")


def refused(error):
    """Return what HTTP says of the same refusal."""
    status = next(status for status, code in STATUSES.items() if code is error.code())
    return status, told(error)["problem"], error.details()


@pytest.mark.usefixtures("world")
@pytest.mark.parametrize("viewer", VIEWERS)
def test_is_following_is_what_relationships_tell(call, rpc, viewer):
    """Of everybody at once, in the order asked, each once."""
    asked = "&".join(f"id={who}" for who in [*PEOPLE, *PEOPLE])
    there = call(viewer, f"GET /relationships?{asked}").json["relationships"]
    assert rpc.following(viewer, *PEOPLE, *PEOPLE) == {each["user_id"]: each["following"] for each in there}


@pytest.mark.usefixtures("world")
def test_the_viewer_follows_whom_they_follow(rpc):
    """Not whom they only asked, nor who has blocked them since, nor who has left."""
    assert [who for who, is_so in rpc.following("viewer", *PEOPLE).items() if is_so] == [
        "followed",
        "accepted",
        "muted",
    ]


@pytest.mark.usefixtures("world")
@pytest.mark.parametrize("viewer", VIEWERS)
def test_counts_are_those_of_profiles(call, rpc, viewer):
    """Who is nobody to the viewer is left out."""
    asked = "&".join(f"id={who}" for who in PEOPLE)
    there = call(viewer, f"GET /users?{asked}").json["users"]
    expected = {each["user_id"]: (each["followers_count"], each["following_count"]) for each in there}
    assert list(rpc.counts(viewer, *PEOPLE).items()) == list(expected.items())


@pytest.mark.usefixtures("world")
@pytest.mark.parametrize("viewer", VIEWERS)
def test_a_list_is_open_to_whom_http_opens_it(call, rpc, viewer):
    """And closed to others with the same code and the same sentence."""
    there, here = {}, {}
    for who in filter(None, PEOPLE):
        answer = call(viewer, f"GET /users/{who}/followers?limit=200")
        rows = [(row["user_id"], row["followed_at"]) for row in answer.json.get("users", ())]
        there[who] = (
            rows if answer.status_code == 200 else tuple(answer.json[it] for it in ("status", "code", "detail"))
        )
        try:
            here[who] = rpc.followers(viewer, who)
        except grpc.RpcError as error:
            here[who] = refused(error)
    assert here == there


@pytest.mark.usefixtures("world")
def test_who_has_blocked_the_viewer_is_as_unknown_as_nobody(rpc):
    """In every method, and letter by letter but for the id."""
    assert rpc.counts("viewer", "blocker", "nobody") == {}
    assert {*rpc.following("viewer", "blocker", "nobody").values()} == {False}
    told_of = {}
    for who in ("blocker", "nobody"):
        with pytest.raises(grpc.RpcError) as error:
            rpc.followers("viewer", who)
        told_of[who] = error.value.code(), error.value.details().replace(who, "X"), told(error.value)
    assert told_of["blocker"] == told_of["nobody"]


BAD_TOKENS = {
    "none": {},
    "another scheme": {"authorization": "Basic x"},
    "empty": {"authorization": "Bearer "},
    "no token": {"authorization": "Bearer x.y.z"},
    "expired": ISSUER.bearer("viewer", exp=time.time() - 120),
    "of another audience": ISSUER.bearer("viewer", aud="another"),
    "of another issuer": Issuer(ISSUER.name, ISSUER.audience).bearer("viewer"),
    "of no possible user": ISSUER.bearer("a b"),
}


@pytest.mark.parametrize("headers", BAD_TOKENS.values(), ids=BAD_TOKENS)
@pytest.mark.parametrize("method", ROUTES)
def test_nobody_comes_in_without_a_good_token(http, rpc, aws, method, headers):
    """It is said as HTTP says it, and no table is asked."""
    there = http.get("/v1/users/me", headers={name.title(): value for name, value in headers.items()})
    aws.calls.clear()
    sent = [(name.lower(), value) for name, value in headers.items()]
    about = {"user_id": "viewer"} if method == "ListFollowers" else {"user_ids": ["viewer"]}
    with pytest.raises(grpc.RpcError) as error:
        list(rpc.ask(None, method, metadata=sent, **about))
    assert error.value.code() is grpc.StatusCode.UNAUTHENTICATED
    assert refused(error.value) == (401, "unauthorized", there.json["detail"])
    assert not aws.calls


@pytest.mark.parametrize("user_ids", [[], ["x"] * 101], ids=["nobody", "too many"])
@pytest.mark.parametrize("method", ["IsFollowing", "GetCounts"])
def test_one_to_a_hundred_users_are_asked_for(rpc, method, user_ids):
    with pytest.raises(grpc.RpcError, match="user_ids") as error:
        rpc.ask("viewer", method, user_ids=user_ids)
    assert refused(error.value)[:2] == (400, "bad-query")


@pytest.mark.parametrize("about", [{"page_size": 201}, {"page_size": -1}, {"cursor": "x"}], ids=str)
def test_a_page_that_cannot_be_is_refused(rpc, join, about):
    join("viewer")
    with pytest.raises(grpc.RpcError, match=next(iter(about))) as error:
        rpc.followers("viewer", "viewer", **about)
    assert refused(error.value)[0] == 400


def test_calls_cost_what_http_s_cost(graph):
    """A client cannot get more by asking the other way."""
    suggested = SuggestionLists(None, graph.lists, float), KeptPages(None, bool)
    declared = {each.name: each for each in api.operations(graph, *suggested, lambda: 0, 0).by_endpoint.values()}
    assert {name: declared[route].cost for name, route in ROUTES.items()} == COSTS
    assert EXTRA_COSTS["cursor"] == COST_OF_CURSOR
    assert {declared[route].budget for route in ROUTES.values()} == {"calls"}


def test_every_problem_has_a_status():
    """Also those that no method has today."""
    problems = {**EVERYWHERE, **WITH_QUERY, **WITH_CURSOR, **api.PROBLEMS}
    assert {each.status for each in problems.values()} <= STATUSES.keys()


def test_who_has_spent_their_budget_is_told_when_to_come_again(graph, join):
    """And nobody else is refused for it."""
    join("viewer")
    settings = SETTINGS.model_copy(update={"limit_calls_a_minute": 60, "limit_calls_burst": 10})
    with serving(graph, settings, ISSUER) as server, client(server.port, ISSUER) as rpc:
        for _ in range(2):
            rpc.following("viewer", "viewer")
        with pytest.raises(grpc.RpcError, match="budget of calls") as error:
            rpc.following("viewer", "viewer")
        assert error.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert refused(error.value)[:2] == (429, "too-many-requests")
        assert 1 <= int(told(error.value)["retry-after"]) <= 5
        assert rpc.following("another", "viewer") == {"viewer": False}


def exists(aws, name):
    row = {"display_name": {"S": name}, "is_private": {"BOOL": False}, "created_at": {"N": "1"}}
    aws.put("users", {"user_id": {"S": name}, **row})


@pytest.fixture
def fans(aws, join):
    """A star with followers, newest first a0099 … a0000, each of whom has a profile."""
    join("star", "viewer")
    names = [f"a{n:04}" for n in range(100)]
    for n, name in enumerate(names):
        exists(aws, name)
        aws.put("followers", follow("star", name, 10_000 + n))
    return names[::-1]


def meanwhile(graph, act):
    """Return the graph, and act before each of its pages but the first."""
    pages = itertools.count()

    def rows(*asked):
        if next(pages):
            act()
        return graph.lists.rows(*asked)

    return replace(graph, lists=SimpleNamespace(rows=rows, among=graph.lists.among))


def test_a_stream_gives_a_list_that_moves_without_loss_or_repeat(graph, fans, aws):
    """While the newest leave, others come, and somebody leaves and comes again."""
    staying, leaving = fans[0::2], iter(fans[1::2])
    coming = itertools.count()

    def move():
        aws.delete("followers", {"followee_id": {"S": "star"}, "follower_id": {"S": next(leaving)}})
        new = f"new{next(coming)}"
        exists(aws, new)
        aws.put("followers", follow("star", new, 20_000 + int(new[3:])))

    with serving(meanwhile(graph, move), SETTINGS, ISSUER) as server, client(server.port, ISSUER) as rpc:
        given = [who for who, _ in rpc.followers("viewer", "star", page_size=7)]
    assert next(coming) > 10
    assert len(given) == len({*given})
    assert [who for who in given if who in staying] == staying


def test_a_stream_ends_where_the_list_closes(graph, fans, call):
    """Each page is asked for anew: a block that comes meanwhile holds from the next page on."""
    closing = meanwhile(graph, lambda: call("star", "PUT /users/viewer/block"))
    with serving(closing, SETTINGS, ISSUER) as server, client(server.port, ISSUER) as rpc:
        pages, given = rpc.ask("viewer", "ListFollowers", user_id="star", page_size=10), []
        with pytest.raises(grpc.RpcError) as error:
            given.extend(row.user_id for page in pages for row in page.followers)
    assert error.value.code() is grpc.StatusCode.NOT_FOUND
    assert given == fans[: len(given)]
    assert len(given) == 20  # of the second page the list was open when it was asked for


def test_each_page_of_a_stream_is_counted(graph, fans):
    """Who has spent their budget goes on from the last cursor later, and misses nothing."""
    settings = SETTINGS.model_copy(update={"limit_calls_a_minute": 600, "limit_calls_burst": 10})
    cost = COSTS["ListFollowers"] + COST_OF_CURSOR
    with serving(graph, settings, ISSUER) as server, client(server.port, ISSUER) as rpc:
        given, cursor, times = [], "", 0
        while True:
            try:
                for page in rpc.ask("viewer", "ListFollowers", user_id="star", page_size=20, cursor=cursor):
                    given += [row.user_id for row in page.followers]
                    cursor = page.next_cursor
                break
            except grpc.RpcError as error:
                assert error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED  # noqa: PT017
                times += 1
                eventually(lambda: server.calls.leases.take(server.calls.budget, "viewer", 0).left >= cost, True)
    assert given == fans
    assert times


def test_a_call_ends_with_its_client_s_deadline(graph):
    """And so does its work: no store is asked for longer than somebody waits, and never for longer than over HTTP."""
    waited, gone = [], threading.Event()

    def hangs(_):
        waited.append(deadlines.remaining(60))
        gone.wait(waited[-1])
        return deadlines.remaining(60)

    hung = replace(graph, lists=SimpleNamespace(among=hangs))
    with serving(hung, SETTINGS, ISSUER, request_seconds=0.5) as server, client(server.port, ISSUER) as rpc:
        with pytest.raises(grpc.RpcError) as error:
            rpc.following("viewer", "x", timeout=0.2)
        assert error.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED
        with pytest.raises(grpc.RpcError) as error:
            rpc.following("viewer", "x", timeout=60)
        assert refused(error.value)[:2] == (503, "unavailable")
        assert told(error.value)["retry-after"] == "1"
        eventually(lambda: len(waited), 2)
        assert waited[0] <= 0.2 < waited[1] <= 0.5


def test_what_nobody_foresaw_is_logged_and_not_told(graph, caplog):
    """As over HTTP."""

    def breaks(_):
        raise ZeroDivisionError("secret")

    broken = replace(graph, lists=SimpleNamespace(among=breaks))
    with serving(broken, SETTINGS, ISSUER) as server, client(server.port, ISSUER) as rpc:
        with pytest.raises(grpc.RpcError) as error:
            rpc.following("viewer", "x")
        assert refused(error.value)[:2] == (500, "failed")
        assert "secret" not in str(error.value)
    assert "unforeseen error" in caplog.text


def test_each_call_is_logged_under_the_id_that_its_client_gave(server, rpc, caplog, join):
    """Or a new one; and it comes back with the answer, be it good or bad."""
    join("viewer")
    caplog.set_level(logging.INFO, "follow_service.grpc_calls")
    request, call = rpc._methods["IsFollowing"]  # noqa: SLF001
    bearer = [("authorization", ISSUER.bearer("viewer")["Authorization"])]
    for sent, kept in (("abc-1", True), ("no good id", False)):
        _, done = call.with_call(request(user_ids=["x"]), metadata=[*bearer, ("x-request-id", sent)])
        back = dict(done.trailing_metadata())["x-request-id"]
        assert (back == sent) is kept
    with pytest.raises(grpc.RpcError) as error:
        rpc.following("viewer", metadata=[("x-request-id", "abc-2")])
    assert dict(error.value.trailing_metadata())["x-request-id"] == "abc-2"
    eventually(
        lambda: [it.status for it in caplog.records if it.message == "request"], ["OK", "OK", "INVALID_ARGUMENT"]
    )
    assert {(it.caller, it.method) for it in caplog.records if it.message == "request"} == {("viewer", "IsFollowing")}
    assert not server.calls.in_flight.are_stuck(time.monotonic() + 1e6, 1)
    assert json.dumps([it.ms for it in caplog.records if it.message == "request"])
