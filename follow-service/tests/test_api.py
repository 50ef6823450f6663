"""What a client sees, whatever it asks for: problems, and a document that is true."""

import pytest

from murmuration_testkit.openapi import described, served


@pytest.mark.parametrize(
    ("method", "path", "status", "named"),
    [
        ("POST", "/users/alice/follow", 422, "themselves"),
        ("POST", "/users/nobody/follow", 404, "nobody"),
        ("PUT", "/users/alice/block", 422, "yourself"),
        ("PUT", "/users/alice/mute", 422, "yourself"),
        ("PUT", "/users/no{body/block", 404, "no{body"),
        ("DELETE", "/users/me/followers/alice", 422, "themselves"),
        ("GET", "/users/nobody", 404, "nobody"),
        ("GET", "/users/no{body", 404, "no{body"),
        ("GET", "/users/nobody/followers", 404, "nobody"),
        ("GET", "/users/alice/followers?limit=0", 400, "limit"),
        ("GET", "/users/alice/followers?cursor=x", 400, "cursor"),
        ("GET", "/users/alice?expand=author", 400, "expand"),
        ("GET", "/users/alice/friends?cursor=x", 400, "cursor"),
        ("GET", "/users/nobody/friends", 404, "nobody"),
        ("GET", "/users/alice/mutual-followers/nobody", 404, "nobody"),
        ("GET", "/users/nobody/mutual-followers/alice", 404, "nobody"),
        ("POST", "/users/" + "x" * 3_000 + "/follow", 404, "xxx"),
        ("POST", "/users/me/follow-requests/nobody", 404, "nobody"),
        ("POST", "/users/me/follow-requests/no{body", 404, "no{body"),
        ("POST", "/users/me/follow-requests/sent", 404, "sent"),
        ("GET", "/users/me/follow-requests?cursor=x", 400, "cursor"),
        ("GET", "/users/me/blocks?cursor=x", 400, "cursor"),
        ("GET", "/relationships", 400, "id"),
    ],
)
def test_what_cannot_be_done_is_a_problem(call, join, method, path, status, named):
    """With the status of its kind, and what was wrong."""
    join("alice")
    response = call("alice", f"{method} {path}")
    assert response.status_code == status
    assert named in response.json["detail"]


def test_openapi_describes_every_route_and_no_other(http):
    """The description is data, so it is held to the routes."""
    assert described(http) == served(http)
