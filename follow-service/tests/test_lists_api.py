"""Lists as a client pages through them."""

from itertools import chain

import pytest

from follow_service import lists, mutuals
from murmuration_testkit.unkind_aws import Unkindness

from .rows import follow


def names(response):
    return [row["user_id"] for row in response.json["users"]]


def whole(pages):
    return [*chain.from_iterable(pages)]


@pytest.fixture
def people(call, join):
    """A star with followers, newest first a19 … a00."""
    fans = [f"a{n:02}" for n in range(20)]
    join("star", *fans)
    for fan in fans:
        call(fan, "POST /users/star/follow")
    return fans[::-1]


@pytest.fixture
def pages(call):
    """Page through a list by its Link headers; return whom each page names."""

    def walk(who, path):
        found = []
        while path:
            response = call(who, f"GET {path}")
            assert response.status_code == 200
            found.append(names(response))
            link = response.headers.get("Link", "")
            path = link[1 : link.index(">")].removeprefix("/v1") if link else ""
            assert bool(path) is (response.json["next_cursor"] is not None)
        return found

    return walk


def test_pages_are_full_to_the_last_one(people, pages):
    """Of any size; the last has none to follow it."""
    for limit in (1, 7, 10, 19, 20, 21):
        found = pages("a00", f"/users/star/followers?limit={limit}")
        assert whole(found) == people
        assert [len(page) for page in found[:-1]] == [limit] * (len(found) - 1)
        assert found[-1]


def test_pages_are_full_whoever_is_hidden(call, people, pages):
    """Deleted accounts and blocks, either way, hide rows; what is left fills the pages."""
    call(people[3], "DELETE /users/me")
    for n in (4, 5, 6, 7, 12):
        call("a00", f"PUT /users/{people[n]}/block")
    call(people[13], "PUT /users/a00/block")
    shown = [fan for n, fan in enumerate(people) if n not in (3, 4, 5, 6, 7, 12, 13)]
    found = pages("a00", "/users/star/followers?limit=4")
    assert whole(found) == shown
    assert [len(page) for page in found] == [4, 4, 4, 1]
    assert len(whole(pages("a01", "/users/star/followers?limit=4"))) == 19


def test_a_request_looks_at_so_many_rows_and_no_more(call, join, aws, pages):
    """Where deleted accounts fill whole pages, a page is short, and a cursor goes on after them."""
    join("star", "last")
    call("last", "POST /users/star/follow")
    gone = 2 * lists.LOOKED_AT
    for n in range(gone):
        aws.put("users", {"user_id": {"S": f"g{n}"}, "created_at": {"N": "1"}, "deleted_at": {"N": "2"}})
        aws.put("followers", follow("star", f"g{n}", 2 * 10**12 + n))
    for limit in (1, 50, 200):
        found = pages("last", f"/users/star/followers?limit={limit}")
        assert whole(found) == ["last"]
        assert 2 <= len(found) <= gone // lists.LOOKED_AT + 1


def test_the_lists_of_a_private_account_are_for_its_followers(call, join, people):  # noqa: ARG001
    """And for itself; others are told that it is private, as soon as it is and for as long as they do not follow."""
    join("fan")
    call("fan", "POST /users/star/follow")
    call("star", "PUT /users/me", display_name="Star", is_private=True)
    join("stranger")
    call("stranger", "POST /users/star/follow")
    for path in ("/star/followers", "/star/following", "/star/friends", "/star/mutual-followers/fan",
                 "/fan/mutual-followers/star"):  # fmt: skip
        refused = call("stranger", f"GET /users{path}")
        assert (refused.status_code, refused.json["code"]) == (403, "private-account")
        assert [call(who, f"GET /users{path}").status_code for who in ("star", "fan")] == [200, 200]
    call("star", "POST /users/me/follow-requests/stranger")
    assert call("stranger", "GET /users/star/followers").status_code == 200


@pytest.mark.parametrize("path", ["/users/star/followers", "/users/a00/following", "/users/me/follow-requests"])
def test_a_list_brings_the_profiles_that_it_names(call, join, aws, path):
    """Each as GET /v1/users/{id} shows it, and with expand=viewer as that shows it; no question more to the store."""
    join("star", is_private=True)
    join("other", "a00", "a01")
    for whom in ("star", "other"):
        call("a00", f"POST /users/{whom}/follow")
        call("a01", f"POST /users/{whom}/follow")
    call("star", "POST /users/me/follow-requests/a00")
    call("star", "POST /users/a00/follow")
    aws.calls.clear()
    plain = call("star", f"GET {path}").json
    before = aws.calls.copy()
    expanded = call("star", f"GET {path}?expand=author").json
    assert aws.calls - before == before
    named = [row["user_id"] for row in plain["users"]]
    assert named
    authors = [call("star", f"GET /users/{each}").json for each in named]
    assert expanded == plain | {"authors": authors}
    viewed = call("star", f"GET {path}?expand=viewer&limit=1")
    assert viewed.json["authors"] == [call("star", f"GET /users/{named[0]}?expand=viewer").json]
    assert "expand=viewer" in viewed.headers.get("Link", "expand=viewer")
    assert call("star", f"GET {path}?expand=x").json["errors"][0]["parameter"] == "expand"


def test_who_moves_within_a_list_is_shown_once(call, join, people):
    """Between two pages people leave, come and come back; who stays is shown once, by the time of their follow."""
    first = call("a05", "GET /users/star/followers?limit=5").json
    join("new")
    for who, method in (("new", "POST"), ("a16", "DELETE"), ("a15", "DELETE"), ("a03", "DELETE"), ("a15", "POST")):
        call(who, f"{method} /users/star/follow")
    rest = call("a05", f"GET /users/star/followers?cursor={first['next_cursor']}").json
    shown = [row["user_id"] for row in (*first["users"], *rest["users"])]
    assert shown == [fan for fan in people if fan != "a03"]


def test_many_of_the_same_moment_are_each_shown_once(call, join, clock, pages, http):  # noqa: ARG001
    """A burst of follows within a millisecond, cut by pages of any size, while some of them leave."""
    fans = [f"a{n:02}" for n in range(12)]
    join("star", *fans)
    at = clock.now
    for fan in fans:
        clock.now = at
        call(fan, "POST /users/star/follow")
    for limit in (1, 5):
        assert sorted(whole(pages("a00", f"/users/star/followers?limit={limit}"))) == fans
    first = call("a00", "GET /users/star/followers?limit=4").json
    for row in (first["users"][3], first["users"][0]):
        call(row["user_id"], "DELETE /users/star/follow")
    rest = pages("a00", f"/users/star/followers?limit=3&cursor={first['next_cursor']}")
    assert sorted([row["user_id"] for row in first["users"]] + whole(rest)) == fans


@pytest.fixture
def circle(call, join):
    """Alice follows b00 … b09; even ones follow star, and every third follows Alice back."""
    others = [f"b{n:02}" for n in range(10)]
    join("alice", "star", *others)
    for n, other in enumerate(others):
        call("alice", f"POST /users/{other}/follow")
        if n % 2 == 0:
            call(other, "POST /users/star/follow")
        if n % 3 == 0:
            call(other, "POST /users/alice/follow")
    call("star", "POST /users/star2/follow")


@pytest.mark.usefixtures("circle")
@pytest.mark.parametrize("counts", [(10, 5), (5, 10)])
def test_mutual_followers_are_those_in_both_lists(pages, count, counts, call):
    """Whichever list is the shorter, in pages; blocks and deleted accounts are left out."""
    count("alice", following=counts[0])
    count("star", followers=counts[1])
    for limit in (1, 2, 20):
        found = pages("alice", f"/users/alice/mutual-followers/star?limit={limit}")
        assert whole(found) == ["b08", "b06", "b04", "b02", "b00"]
        assert [len(page) for page in found[:-1]] == [limit] * (len(found) - 1)
    call("alice", "PUT /users/b08/block")
    call("b06", "PUT /users/star/block")
    call("b04", "DELETE /users/me")
    for viewer in ("alice", "b01"):
        assert whole(pages(viewer, "/users/alice/mutual-followers/star")) == ["b02", "b00"]
    call("b02", "PUT /users/b01/block")
    assert whole(pages("b01", "/users/alice/mutual-followers/star")) == ["b00"]


@pytest.mark.usefixtures("circle")
@pytest.mark.parametrize("counts", [(10, 4), (4, 10)])
def test_friends_follow_each_other(pages, count, counts, call):
    """As the tables have it now."""
    count("alice", following=counts[0], followers=counts[1])
    assert whole(pages("star", "/users/alice/friends?limit=3")) == ["b09", "b06", "b03", "b00"]
    call("b09", "DELETE /users/alice/follow")
    call("alice", "DELETE /users/b06/follow")
    assert whole(pages("star", "/users/alice/friends")) == ["b03", "b00"]
    expanded = call("star", "GET /users/alice/friends?expand=viewer&limit=1").json
    assert expanded["authors"] == [call("star", "GET /users/b03?expand=viewer").json]


@pytest.mark.usefixtures("circle")
def test_an_index_that_lags_shows_nobody_who_has_left(call, aws, pages):
    """Each of both follows is confirmed on the table."""
    aws.unkind[Unkindness.INDEX_LAG] = (60, 60)
    call("b08", "DELETE /users/star/follow")
    call("alice", "DELETE /users/b06/follow")
    call("b09", "DELETE /users/alice/follow")
    assert whole(pages("alice", "/users/alice/mutual-followers/star")) == ["b04", "b02", "b00"]
    assert whole(pages("alice", "/users/alice/friends")) == ["b03", "b00"]


def test_most_candidates_are_looked_at_in_one_request(call, join, aws, pages, count):
    """Even of the longest list that the cap allows; beyond it a page is short and goes on."""
    join("alice", "star", "last")
    beyond = mutuals.LOOKED_AT + 2_000
    for n in range(beyond):
        aws.put("followers", follow(f"g{n}", "alice", 2 * 10**12 + n))
    call("alice", "POST /users/last/follow")
    call("last", "POST /users/star/follow")
    count("star", followers=10**6)
    found = pages("alice", "/users/alice/mutual-followers/star")
    assert (whole(found), len(found)) == (["last"], 2)
