"""Profiles as a client sees them."""

import pytest

from .conftest import bearer
from .rows import follows


def test_a_profile_is_created_then_renamed(call, clock):
    """201 at first, 200 after; the profile shows what clients are promised."""
    assert call("alice", "PUT /users/me", display_name="Alice").status_code == 201
    assert call("alice", "PUT /users/me", display_name="Alicia").status_code == 200
    assert call("bob", "GET /users/alice").json == {
        "user_id": "alice",
        "display_name": "Alicia",
        "is_private": False,
        "followers_count": 0,
        "following_count": 0,
        "created_at": clock.now - 2,
        "display": {"followers_count": "0", "following_count": "0"},
        "blocking": False,
    }


def test_counts_are_exact_and_as_people_show_them(call, join, count):
    """Wherever a profile is shown."""
    join("alice")
    count("alice", followers=12_449_999, following=999)
    shown = call("bob", "GET /users/alice").json
    assert (shown["followers_count"], shown["following_count"]) == (12_449_999, 999)
    assert shown["display"] == {"followers_count": "12.4M", "following_count": "999"}
    assert call("bob", "GET /users?id=alice").json["users"] == [shown]


def test_what_is_left_out_stays_as_it_is(call):
    """An older client that only renames opens no private account, and lets nobody suggest one who does not want it."""
    first = call("alice", "PUT /users/me", display_name="Alice").json
    assert (first["is_private"], first["discoverable"]) == (False, True)
    for sent in ({"is_private": True}, {"discoverable": False}, {}, {"is_private": False}, {"discoverable": True}):
        first |= sent
        shown = call("alice", "PUT /users/me", display_name="Alice", **sent).json
        assert shown == call("alice", "GET /users/me").json == first


def test_an_account_that_turns_public_has_requests_to_accept(call, join, aws):
    """It is marked for that when it turns, and no longer when it is private again; others are never marked."""

    def is_marked():
        return "opening" in aws.items("users")[0]

    join("alice")
    for private, marked in ((False, False), (True, False), (True, False), (False, True), (False, True), (True, False)):
        call("alice", "PUT /users/me", display_name="Alice", is_private=private)
        assert is_marked() is marked
    call("alice", "PUT /users/me", display_name="Alice", is_private=False)
    call("alice", "PUT /users/me", display_name="Alicia")
    assert is_marked()
    call("alice", "DELETE /users/me")
    assert not is_marked()


def test_the_callers_own_profile_is_what_others_see(call, join):
    """Once there is one; with what is the caller's own alone."""
    assert call("alice", "GET /users/me").json["type"] == "/problems/no-user"
    join("alice")
    own = call("alice", "GET /users/me").json
    assert own.pop("discoverable") is True
    others = call("bob", "GET /users/alice").json
    assert others.pop("blocking") is False
    assert own == others


def test_a_deleted_account_is_gone_for_good(call, join, aws):
    """204 each time; 404 to everybody; what it would add is refused, what it takes away is not."""
    join("alice", "bob", "carol")
    call("alice", "POST /users/bob/follow")
    call("bob", "POST /users/alice/follow")
    for _ in range(2):
        assert call("alice", "DELETE /users/me").status_code == 204
    for path in ("", "/followers", "/following", "/friends", "/mutual-followers/bob"):
        assert call("bob", f"GET /users/alice{path}").status_code == 404
    assert call("bob", "POST /users/alice/follow").status_code == 404
    for refused in (
        call("alice", "PUT /users/me", display_name="Alice"),
        call("alice", "POST /users/bob/follow"),
        call("alice", "PUT /users/bob/block"),
        call("alice", "PUT /users/bob/mute"),
    ):
        assert (refused.status_code, refused.json["type"]) == (403, "/problems/account-deleted")
        assert "was deleted" in refused.json["detail"]
    assert [row["user_id"] for row in call("bob", "GET /users/bob/followers").json["users"]] == []
    for path in ("follow", "block", "mute"):
        assert call("alice", f"DELETE /users/bob/{path}").status_code == 204
    assert follows(aws) == {("bob", "alice")}
    (row,) = [row for row in aws.items("users") if row["user_id"]["S"] == "alice"]
    assert (row["departure"], row["erasure"], "display_name" in row) == ({"S": "due"}, {"S": "due"}, False)


def test_who_has_no_profile_deletes_nothing_and_may_still_join(call, join, aws, count):
    """204; also where others count already."""
    count("bob", followers=1)
    for who in ("alice", "bob"):
        assert call(who, "DELETE /users/me").status_code == 204
    assert [sorted(row) for row in aws.items("users")] == [["followers_count", "following_count", "user_id"]]
    join("alice", "bob")


def test_many_profiles_come_at_once_in_the_order_asked(call, join, aws):
    """Each once; those of nobody and of deleted accounts are left out; one question to the store."""
    join("alice", "bob", "carol", "dave")
    call("dave", "DELETE /users/me")
    asked = "&".join(
        f"id={each}" for each in ("carol", "nobody", "alice", "me", "carol", "", "x" * 3_000, "dave", "bob")
    )
    aws.calls.clear()
    shown = call("alice", f"GET /users?{asked}").json
    assert aws.calls.total() == 1
    assert [each["user_id"] for each in shown["users"]] == ["carol", "alice", "bob"]
    assert shown["users"][1] == call("alice", "GET /users/alice").json


@pytest.mark.parametrize("path", ["/users", "/relationships"])
@pytest.mark.parametrize("query", ["", "?id", "&".join(["?id=a", *["id=a"] * 100])])
def test_a_hundred_users_at_most_and_one_at_least(call, path, query):
    """400 that names the parameter; `?id` is one id, of nobody."""
    response = call("alice", f"GET {path}{query}")
    if query == "?id":
        assert response.json == {path[1:]: []}
    else:
        assert (response.status_code, response.json["errors"][0]["parameter"]) == (400, "id")


def test_a_profile_that_has_not_changed_is_not_sent_again(call, join, http):
    """304 while it shows the same to the same caller, and no longer."""
    join("alice", "bob")
    tag = call("bob", "GET /users/alice").headers["ETag"]
    asked = bearer("bob") | {"If-None-Match": tag}
    assert http.get("/v1/users/alice", headers=asked).status_code == 304
    call("bob", "PUT /users/alice/block")
    assert http.get("/v1/users/alice", headers=asked).json["blocking"]
    call("bob", "DELETE /users/alice/block")
    call("alice", "PUT /users/me", display_name="Alicia")
    assert http.get("/v1/users/alice", headers=asked).json["display_name"] == "Alicia"


@pytest.mark.parametrize(
    ("body", "status", "named"),
    [
        ({}, 400, "display_name"),
        ({"display_name": "A", "colour": "red"}, 400, "colour"),
        ({"display_name": "A", "is_private": None}, 400, "is_private"),
        ({"display_name": "A", "is_private": "no"}, 400, "is_private"),
        ({"display_name": "A", "discoverable": 1}, 400, "discoverable"),
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
