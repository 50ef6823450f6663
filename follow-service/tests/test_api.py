"""What a client sees."""

import jwt
import pytest

from follow_service.app import create_app
from follow_service.profiles import StoreAwayError

from .conftest import ISSUER, SETTINGS, STRANGER, bearer
from .memory import MemoryStore


def put_me(http, who, name="Somebody", **more):
    return http.put("/v1/users/me", json={"display_name": name, **more}, headers=bearer(who))


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
    put_me(http, "bob")
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
    for followee in ("a", "b", "c", "d"):
        put_me(http, followee)
        response = http.post(f"/v1/users/{followee}/follow", headers=bearer("alice"))
    assert response.status_code == 403
    assert "more than 3 accounts; unfollow one" in response.json["detail"]
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
        assert refused.status_code == 403
        assert "was deleted" in refused.json["detail"]
    assert http.delete("/v1/users/bob/follow", headers=bearer("alice")).status_code == 204
    assert http.get("/v1/users/bob/followers", headers=bearer("bob")).json["users"] == []


def test_lists_link_to_their_next_page(http, clock):
    """next_cursor and Link lead to the same page."""
    put_me(http, "star")
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


@pytest.mark.parametrize(
    ("body", "status", "named"),
    [
        (b"{", 400, "JSON"),
        (b'{"display_name": "A", "colour": "red"}', 400, "colour"),
        (b'{"display_name": 5}', 400, "display_name"),
        (b'{"display_name": "A", "is_private": null}', 400, "is_private"),
        (b'{"display_name": "A", "is_private": "no"}', 400, "is_private"),
        (b"{}", 400, "display_name"),
        (b"[]", 400, "body"),
        (b'{"display_name": "\\ud800"}', 400, "body"),
        (b'{"display_name": "' + b"x" * 51 + b'"}', 422, "display_name"),
        (b'{"display_name": "' + b"x" * 100_000 + b'"}', 413, "exceeds"),
    ],
)
def test_a_bad_body_is_named(http, body, status, named):
    """The problem says which field, in RFC 9457's shape."""
    response = http.put("/v1/users/me", data=body, content_type="application/json", headers=bearer("alice"))
    assert response.status_code == status
    assert response.content_type == "application/problem+json"
    assert named in response.json["detail"]
    assert response.json["request_id"] == response.headers["X-Request-ID"]


@pytest.mark.parametrize(
    ("method", "path", "status", "named"),
    [
        ("post", "/v1/users/alice/follow", 422, "themselves"),
        ("post", "/v1/users/nobody/follow", 404, "nobody"),
        ("get", "/v1/users/nobody", 404, "nobody"),
        ("get", "/v1/users/no{body", 404, "no{body"),
        ("get", "/v1/users/nobody/followers", 404, "nobody"),
        ("get", "/v1/users/alice/followers?limit=0", 400, "limit"),
        ("get", "/v1/users/alice/followers?limit=x", 400, "limit"),
        ("get", "/v1/users/alice/followers?cursor=x", 400, "cursor"),
        ("put", "/v1/users/me", 415, "application/json"),
        ("post", "/v1/users/me", 405, ""),
        ("post", "/v1/users/" + "x" * 3_000 + "/follow", 404, "xxx"),
        ("post", "/v1/users/me/follow-requests/nobody", 404, "nobody"),
        ("post", "/v1/users/me/follow-requests/no{body", 404, "no{body"),
        ("get", "/v1/users/me/follow-requests?cursor=x", 400, "cursor"),
        ("get", "/v1/nothing", 404, ""),
    ],
)
def test_what_cannot_be_done_is_a_problem(http, method, path, status, named):
    """Every error has the same shape, Flask's own included."""
    put_me(http, "alice")
    response = getattr(http, method)(path, headers=bearer("alice"))
    assert response.status_code == status
    assert response.content_type == "application/problem+json"
    assert named in response.json["detail"]


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Basic YTpi"},
        {"Authorization": "Bearer not.a.token"},
        bearer("alice", exp=1),
        bearer("alice", exp=None),
        bearer("alice", iss="another"),
        bearer("alice", aud="another"),
        STRANGER.bearer("alice"),
        bearer("a{b"),
        bearer(None),
    ],
)
def test_a_wrong_or_missing_token_is_401(http, headers):
    """Expired, foreign, unsigned for us or nameless: nobody comes in."""
    response = http.get("/v1/users/alice", headers=headers)
    assert response.status_code == 401
    assert response.headers["WWW-Authenticate"].startswith("Bearer")


def test_a_store_that_is_away_is_503_and_not_ready():
    """The process stays alive, says what it waits for, and invites another try."""

    class Away(MemoryStore):
        def check(self):
            raise StoreAwayError("DynamoDB did not answer: no route")

        def profile(self, user_id):  # noqa: ARG002
            raise StoreAwayError("DynamoDB did not answer: no route")

    http = create_app(SETTINGS, store=Away(), keys=ISSUER).test_client()
    response = http.get("/v1/users/alice", headers=bearer("alice"))
    assert (response.status_code, response.headers["Retry-After"]) == (503, "1")
    assert http.get("/healthz").status_code == 200
    ready = http.get("/readyz")
    assert ready.status_code == 503
    assert "no route" in ready.json["waiting_for"][0]


def test_what_nobody_foresaw_is_a_500_without_details(caplog):
    """The client gets a request id, the log gets the error."""

    class Broken(MemoryStore):
        def profile(self, user_id):  # noqa: ARG002
            raise RuntimeError("secret")

    http = create_app(SETTINGS, store=Broken(), keys=ISSUER).test_client()
    response = http.get("/v1/users/alice", headers=bearer("alice"))
    assert response.status_code == 500
    assert "secret" not in response.text
    assert "secret" in caplog.text


@pytest.mark.parametrize(
    "error", [jwt.PyJWKClientConnectionError("no route"), jwt.PyJWKSetError("empty"), ValueError()]
)
def test_an_issuer_that_is_away_is_503(error):
    """Nobody is told that a good token is bad because its key cannot be had."""

    class Away:
        def get_signing_key_from_jwt(self, token):  # noqa: ARG002
            raise error

    http = create_app(SETTINGS, store=MemoryStore(), keys=Away()).test_client()
    response = http.get("/v1/users/alice", headers=bearer("alice"))
    assert (response.status_code, response.headers["Retry-After"]) == (503, "1")


def test_openapi_tells_every_route_and_no_other(http):
    """The description is data, so it is held to the routes."""
    described = http.get("/openapi.json").json
    told = {
        (path.replace("{", "<").replace("}", ">"), method.upper())
        for path, operations in described["paths"].items()
        for method in operations
    }
    served = {
        (rule.rule, method)
        for rule in http.application.url_map.iter_rules()
        for method in rule.methods - {"HEAD", "OPTIONS"}
        if rule.rule.startswith("/v1")
    }
    assert told == served


def test_requests_are_measured_and_logged_under_their_id(http, caplog):
    """The gateway's request id is in the answer and in the one log line."""
    caplog.set_level("INFO")
    response = http.get("/v1/users/x", headers=bearer("alice") | {"X-Request-ID": "abc-123"})
    assert response.headers["X-Request-ID"] == "abc-123"
    (line,) = [record for record in caplog.records if record.message == "request"]
    assert (line.request_id, line.caller, line.status) == ("abc-123", "alice", 404)
    assert 'route="/v1/users/<user_id>"' in http.get("/metrics").text
