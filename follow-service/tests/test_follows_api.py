"""Following as a client sees it."""

import pytest

from .rows import follows, requests


def names(response):
    return [row["user_id"] for row in response.json["users"]]


def test_follow_and_unfollow_may_be_repeated(call, join, aws):
    """204 each time, never 409."""
    join("alice", "bob")
    for _ in range(2):
        assert call("alice", "POST /users/bob/follow").status_code == 204
    assert follows(aws) == {("alice", "bob")}
    for other in ("bob", "bob", "nobody", "x" * 3_000):
        assert call("alice", f"DELETE /users/{other}/follow").status_code == 204
    assert not follows(aws)


def test_a_private_account_answers_requests(call, join, clock):
    """202 until it accepts, 204 after; it sees who asks, and those who ask see whom."""
    join("star", is_private=True)
    join("a", "b", "c")
    for fan in ("a", "b", "c"):
        assert call(fan, "POST /users/star/follow").status_code == 202
    at = clock.now
    first = call("star", "GET /users/me/follow-requests?limit=2")
    assert first.json["users"] == [{"user_id": "c", "requested_at": at}, {"user_id": "b", "requested_at": at - 1}]
    link = first.headers["Link"]
    assert names(call("star", "GET " + link[1 : link.index(">")].removeprefix("/v1"))) == ["a"]
    sent = call("b", "GET /users/me/follow-requests/sent")
    assert (sent.json["users"], sent.json["next_cursor"]) == ([{"user_id": "star", "requested_at": at - 1}], None)
    for _ in range(2):
        assert call("star", "POST /users/me/follow-requests/a").status_code == 204
        assert call("star", "DELETE /users/me/follow-requests/b").status_code == 204
        assert call("c", "DELETE /users/star/follow").status_code == 204
    assert call("star", "POST /users/me/follow-requests/b").status_code == 404
    assert call("a", "POST /users/star/follow").status_code == 204
    assert names(call("star", "GET /users/star/followers")) == ["a"]
    for who, path in (("star", ""), ("a", "/sent"), ("b", "/sent"), ("c", "/sent")):
        assert names(call(who, f"GET /users/me/follow-requests{path}")) == []


def test_a_user_may_be_called_sent(call, join, aws):
    """The list of that name is read, never accepted or declined."""
    join("star", is_private=True)
    join("sent", "b")
    for fan in ("sent", "b"):
        call(fan, "POST /users/star/follow")
    assert names(call("star", "GET /users/me/follow-requests/sent")) == []
    assert call("star", "POST /users/me/follow-requests/sent").status_code == 204
    assert (follows(aws), requests(aws)) == ({("sent", "star")}, {("b", "star")})


def test_a_follower_is_removed(call, join, aws):
    """204 whether or not they follow, and whether or not there is such a user; they may follow again."""
    join("alice", "bob", "carol")
    for who in ("bob", "carol"):
        call(who, "POST /users/alice/follow")
    call("alice", "POST /users/bob/follow")
    for other in ("bob", "bob", "nobody", "no{body"):
        assert call("alice", f"DELETE /users/me/followers/{other}").status_code == 204
    assert follows(aws) == {("carol", "alice"), ("alice", "bob")}
    assert call("bob", "POST /users/alice/follow").status_code == 204


def test_at_the_cap_a_follow_is_403_and_its_repeat_204(call, join, count):
    """The problem says what the cap is and what to do."""
    join("alice", "a", "b")
    assert call("alice", "POST /users/a/follow").status_code == 204
    count("alice", following=3)
    response = call("alice", "POST /users/b/follow")
    assert (response.status_code, response.json["type"]) == (403, "/problems/following-full")
    assert "follow 3 accounts already" in response.json["detail"]
    assert call("alice", "POST /users/a/follow").status_code == 204


@pytest.mark.parametrize("asked", ["POST /users/bob/follow", "POST /users/nobody/follow", "PUT /users/bob/block"])
def test_who_has_no_profile_adds_nothing(call, join, aws, asked):
    """403 that says so, whatever else is wrong; with a profile the same requests are answered."""
    join("bob", is_private=True)
    refused = call("alice", asked)
    assert (refused.status_code, refused.json["code"]) == (403, "no-profile")
    assert "PUT /v1/users/me" in refused.json["detail"]
    assert call("alice", asked.replace("POST", "DELETE").replace("PUT", "DELETE")).status_code == 204
    join("alice")
    assert call("alice", asked).status_code in (202, 204, 404)
    assert not follows(aws)
