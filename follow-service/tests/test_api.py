"""What a client sees."""

import pytest

from follow_service.follows import Edge
from murmuration_testkit.openapi import described, served

from .conftest import bearer


def put_me(http, who, name="Somebody", **more):
    return http.put("/v1/users/me", json={"display_name": name, **more}, headers=bearer(who))


def join(http, *people):
    for who in people:
        assert put_me(http, who).status_code == 201


def test_a_profile_is_created_then_renamed(http, clock):
    """201 at first, 200 after; the profile shows what DESIGN promises to clients."""
    response = put_me(http, "alice", "Alice")
    assert response.status_code == 201
    clock.now += 5
    assert put_me(http, "alice", "Alicia").status_code == 200
    assert http.get("/v1/users/alice", headers=bearer("bob")).json == {
        "user_id": "alice",
        "display_name": "Alicia",
        "is_private": False,
        "followers_count": 0,
        "following_count": 0,
        "created_at": clock.now - 5,
    }


def test_follow_and_unfollow_may_be_repeated(http, memory):
    """204 each time, never 409."""
    join(http, "alice", "bob")
    for _ in range(2):
        assert http.post("/v1/users/bob/follow", headers=bearer("alice")).status_code == 204
    assert len(memory.edges) == 1
    for other in ("bob", "bob", "nobody", "x" * 3_000):
        assert http.delete(f"/v1/users/{other}/follow", headers=bearer("alice")).status_code == 204
    assert not memory.edges


def test_privacy_stays_as_it_is_unless_it_is_sent(http):
    """An older client that only renames opens no private account."""
    assert put_me(http, "alice", is_private=True).json["is_private"] is True
    assert put_me(http, "alice", "Alicia").json["is_private"] is True
    assert put_me(http, "alice", is_private=False).json["is_private"] is False


def test_a_private_account_answers_requests(http, clock):
    """202 until it accepts, 204 after; it sees who asks, and pages through them."""
    put_me(http, "star", is_private=True)
    join(http, "a", "b", "c")
    for fan in ("a", "b", "c"):
        clock.now += 1
        assert http.post("/v1/users/star/follow", headers=bearer(fan)).status_code == 202
    first = http.get("/v1/users/me/follow-requests?limit=2", headers=bearer("star"))
    assert first.json["users"] == [
        {"user_id": "c", "requested_at": clock.now},
        {"user_id": "b", "requested_at": clock.now - 1},
    ]
    link = first.headers["Link"]
    second = http.get(link[1 : link.index(">")], headers=bearer("star"))
    assert [row["user_id"] for row in second.json["users"]] == ["a"]
    for _ in range(2):
        assert http.post("/v1/users/me/follow-requests/a", headers=bearer("star")).status_code == 204
        assert http.delete("/v1/users/me/follow-requests/b", headers=bearer("star")).status_code == 204
        assert http.delete("/v1/users/star/follow", headers=bearer("c")).status_code == 204
    assert http.post("/v1/users/me/follow-requests/b", headers=bearer("star")).status_code == 404
    assert http.post("/v1/users/star/follow", headers=bearer("a")).status_code == 204
    followers = http.get("/v1/users/star/followers", headers=bearer("star")).json["users"]
    assert [row["user_id"] for row in followers] == ["a"]
    assert http.get("/v1/users/me/follow-requests", headers=bearer("star")).json["users"] == []


def test_at_the_cap_a_follow_is_403_and_its_repeat_204(http):
    """The problem says what the cap is and what to do."""
    join(http, "alice", "a", "b", "c", "d")
    for followee in ("a", "b", "c", "d"):
        response = http.post(f"/v1/users/{followee}/follow", headers=bearer("alice"))
    assert (response.status_code, response.json["type"]) == (403, "/problems/following-full")
    assert "follow 3 accounts already" in response.json["detail"]
    assert http.post("/v1/users/c/follow", headers=bearer("alice")).status_code == 204


def test_a_deleted_account_is_gone_for_good(http):
    """204 each time; 404 to everybody; what it would add is refused, what it takes away is not."""
    for who in ("alice", "bob"):
        put_me(http, who)
    http.post("/v1/users/bob/follow", headers=bearer("alice"))
    for _ in range(2):
        assert http.delete("/v1/users/me", headers=bearer("alice")).status_code == 204
    for path in ("/v1/users/alice", "/v1/users/alice/followers", "/v1/users/alice/following"):
        assert http.get(path, headers=bearer("bob")).status_code == 404
    assert http.post("/v1/users/alice/follow", headers=bearer("bob")).status_code == 404
    for refused in (put_me(http, "alice"), http.post("/v1/users/bob/follow", headers=bearer("alice"))):
        assert (refused.status_code, refused.json["type"]) == (403, "/problems/account-deleted")
        assert "was deleted" in refused.json["detail"]
    assert http.delete("/v1/users/bob/follow", headers=bearer("alice")).status_code == 204
    assert http.get("/v1/users/bob/followers", headers=bearer("bob")).json["users"] == []


def test_who_has_no_profile_adds_nothing_and_takes_away_what_there_is(http, memory):
    """403 that says so, whatever else is wrong; with a profile the same requests are answered."""
    put_me(http, "bob", is_private=True)
    asks = ["/v1/users/bob/follow", "/v1/users/nobody/follow", "/v1/users/me/follow-requests/bob"]
    memory.request(Edge("bob", "alice"), 1)
    for path in asks:
        refused = http.post(path, headers=bearer("alice"))
        assert (refused.status_code, refused.json["code"]) == (403, "no-profile")
        assert "PUT /v1/users/me" in refused.json["detail"]
    for path in asks:
        assert http.delete(path, headers=bearer("alice")).status_code == 204
    memory.request(Edge("bob", "alice"), 1)
    join(http, "alice")
    assert [http.post(path, headers=bearer("alice")).status_code for path in asks] == [202, 404, 204]


def test_lists_link_to_their_next_page(http, clock):
    """next_cursor and Link lead to the same page."""
    join(http, "star", "a", "b", "c")
    for fan in ("a", "b", "c"):
        clock.now += 1
        http.post("/v1/users/star/follow", headers=bearer(fan))
    first = http.get("/v1/users/star/followers?limit=2", headers=bearer("a"))
    assert [row["user_id"] for row in first.json["users"]] == ["c", "b"]
    link = first.headers["Link"]
    assert link.endswith('; rel="next"')
    second = http.get(link[1 : link.index(">")], headers=bearer("a"))
    assert [row["user_id"] for row in second.json["users"]] == ["a"]
    assert second.json["next_cursor"] is None
    assert "Link" not in second.headers


def test_the_callers_own_profile_is_what_others_see(http):
    """Once there is one."""
    assert http.get("/v1/users/me", headers=bearer("alice")).json["type"] == "/problems/no-user"
    made = put_me(http, "alice", "Alice")
    others = http.get("/v1/users/alice", headers=bearer("bob"))
    assert http.get("/v1/users/me", headers=bearer("alice")).json == others.json == made.json


def test_many_profiles_come_at_once_in_the_order_asked(http, memory):
    """Each once; those of nobody and of deleted accounts are left out; one question to the store."""
    join(http, "alice", "bob", "carol", "dave")
    http.delete("/v1/users/me", headers=bearer("dave"))
    asked = "&".join(
        f"id={each}" for each in ("carol", "nobody", "alice", "me", "carol", "", "x" * 3_000, "dave", "bob")
    )
    shown = http.get(f"/v1/users?{asked}", headers=bearer("alice")).json
    assert [each["user_id"] for each in shown["users"]] == ["carol", "alice", "bob"]
    assert shown["users"][1] == http.get("/v1/users/alice", headers=bearer("bob")).json
    assert memory.batches == 1


@pytest.mark.parametrize("query", ["", "?id", "&".join(["?id=a", *["id=a"] * 100])])
def test_a_hundred_profiles_at_most_and_one_at_least(http, query):
    """400 that names the parameter; `?id` is one id, of nobody."""
    response = http.get(f"/v1/users{query}", headers=bearer("alice"))
    if query == "?id":
        assert response.json == {"users": []}
    else:
        assert (response.status_code, response.json["errors"][0]["parameter"]) == (400, "id")


@pytest.mark.parametrize("path", ["/v1/users/star/followers", "/v1/users/a/following", "/v1/users/me/follow-requests"])
def test_a_list_brings_the_profiles_that_it_names(http, memory, path):
    """Each as GET /v1/users/{id} shows it; who has deleted their account stays in the list, and has none."""
    join(http, "star", "a", "b")
    for fan in ("a", "b"):
        http.post("/v1/users/star/follow", headers=bearer(fan))
    put_me(http, "b", is_private=True)
    for other in ("star", "a"):
        http.post("/v1/users/b/follow", headers=bearer(other))
    headers = bearer("b")
    plain = http.get(path, headers=headers).json
    assert memory.batches == 0
    expanded = http.get(f"{path}?expand=author", headers=headers).json
    assert memory.batches == 1
    named = [row["user_id"] for row in plain["users"]]
    assert named
    assert expanded.pop("authors") == [http.get(f"/v1/users/{each}", headers=headers).json for each in named]
    assert expanded == plain
    http.delete("/v1/users/me", headers=bearer(named[0]))
    left = http.get(f"{path}?expand=author&limit=1", headers=headers)
    assert (len(left.json["users"]), left.json["authors"]) == (1, [])
    assert "expand=author" in left.headers.get("Link", "expand=author")
    assert http.get(f"{path}?expand=x", headers=headers).json["errors"][0]["parameter"] == "expand"


def test_a_profile_that_has_not_changed_is_not_sent_again(http):
    """304 while it shows the same, and no longer."""
    put_me(http, "alice")
    tag = http.get("/v1/users/alice", headers=bearer("bob")).headers["ETag"]
    asked = bearer("bob") | {"If-None-Match": tag}
    assert http.get("/v1/users/alice", headers=asked).status_code == 304
    put_me(http, "alice", "Alicia")
    assert http.get("/v1/users/alice", headers=asked).json["display_name"] == "Alicia"


@pytest.mark.parametrize(
    ("body", "status", "named"),
    [
        ({}, 400, "display_name"),
        ({"display_name": "A", "colour": "red"}, 400, "colour"),
        ({"display_name": "A", "is_private": None}, 400, "is_private"),
        ({"display_name": "A", "is_private": "no"}, 400, "is_private"),
        ({"display_name": "x" * 51}, 422, "display_name"),
        ({"display_name": "\u2066Alice"}, 422, "U+2066"),
    ],
)
def test_a_bad_profile_is_named(http, body, status, named):
    """The problem says which field."""
    response = http.put("/v1/users/me", json=body, headers=bearer("alice"))
    assert response.status_code == status
    assert named in response.json["detail"]
    assert response.json["errors"][0]["pointer"] == f"#/{next(reversed(body), 'display_name')}"


@pytest.mark.parametrize(
    ("method", "path", "status", "named"),
    [
        ("post", "/v1/users/alice/follow", 422, "themselves"),
        ("post", "/v1/users/nobody/follow", 404, "nobody"),
        ("get", "/v1/users/nobody", 404, "nobody"),
        ("get", "/v1/users/no{body", 404, "no{body"),
        ("get", "/v1/users/nobody/followers", 404, "nobody"),
        ("get", "/v1/users/alice/followers?limit=0", 400, "limit"),
        ("get", "/v1/users/alice/followers?cursor=x", 400, "cursor"),
        ("post", "/v1/users/" + "x" * 3_000 + "/follow", 404, "xxx"),
        ("post", "/v1/users/me/follow-requests/nobody", 404, "nobody"),
        ("post", "/v1/users/me/follow-requests/no{body", 404, "no{body"),
        ("get", "/v1/users/me/follow-requests?cursor=x", 400, "cursor"),
    ],
)
def test_what_cannot_be_done_is_a_problem(http, method, path, status, named):
    """With the status of its kind, and what was wrong."""
    put_me(http, "alice")
    response = getattr(http, method)(path, headers=bearer("alice"))
    assert response.status_code == status
    assert named in response.json["detail"]


def test_openapi_describes_every_route_and_no_other(http):
    """The description is data, so it is held to the routes."""
    assert described(http) == served(http)
