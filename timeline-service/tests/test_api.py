"""What a client sees."""

import math
import time

import jwt
import pytest

from murmuration_runtime.errors import StoreAwayError
from murmuration_testkit.tokens import Issuer
from murmuration_testkit.waiting import eventually
from murmuration_timelines import layout
from murmuration_timelines.fake import FakeNodes

from .conftest import STRANGER, bearer, client, tweet
from .memory import MemoryDatabase


@pytest.fixture
def said(database):
    tweets = [tweet(n, author) for n, author in enumerate(["alice", "bob", "bob", "carol"])]
    database.said = {one.tweet_id: one for one in tweets}
    database.follows = {("alice", "bob")}
    return tweets


def test_a_timeline_links_to_its_next_page(http, said):
    """Newest first, with author and time; next_cursor and Link lead to the same page."""
    first = http.get("/v1/timeline?limit=2", headers=bearer("alice"))
    assert [one["text"] for one in first.json["tweets"]] == ["tweet 2", "tweet 1"]
    assert first.json["tweets"][0] == {
        "tweet_id": said[2].tweet_id,
        "author_id": "bob",
        "text": "tweet 2",
        "created_at": 1_700_000_000_002,
    }
    link = first.headers["Link"]
    second = http.get(link[1 : link.index(">")], headers=bearer("alice"))
    assert [one["text"] for one in second.json["tweets"]] == ["tweet 0"]
    assert second.json["next_cursor"] is None
    assert "Link" not in second.headers


@pytest.mark.usefixtures("said")
def test_what_is_new_can_be_counted_and_read(http, nodes, database):
    """Every first page says what to ask with; pages of what is new lead to one another, and end."""
    since = http.get("/v1/timeline", headers=bearer("alice")).json["newest"]
    asked = f"/v1/timeline/count?since={since}"
    assert http.get(asked, headers=bearer("alice")).json == {"count": 0, "more": False}
    new = [tweet(n, "alice") for n in range(10, 13)]
    database.said |= {one.tweet_id: one for one in new}
    nodes.forget(layout.home_timeline("alice"))
    assert http.get(asked, headers=bearer("alice")).json == {"count": 3, "more": False}
    first = http.get(f"/v1/timeline?limit=2&since={since}", headers=bearer("alice"))
    link = first.headers["Link"]
    second = http.get(link[1 : link.index(">")], headers=bearer("alice"))
    texts = [one["text"] for page in (first, second) for one in page.json["tweets"]]
    assert texts == ["tweet 12", "tweet 11", "tweet 10"]
    assert second.json["next_cursor"] is second.json["newest"] is None
    asked = f"/v1/timeline/count?since={first.json['newest']}"
    assert http.get(asked, headers=bearer("alice")).json == {"count": 0, "more": False}


@pytest.mark.usefixtures("said")
def test_more_than_a_hundred_are_not_counted(http, database):
    """A client shows 100+."""
    since = http.get("/v1/timeline", headers=bearer("carol")).json["newest"]
    database.said |= {one.tweet_id: one for one in (tweet(n, "alice") for n in range(10, 111))}
    counted = http.get(f"/v1/timeline/count?since={since}", headers=bearer("alice")).json
    assert counted == {"count": 100, "more": True}


@pytest.mark.parametrize(
    ("path", "status", "named"),
    [
        ("/v1/timeline?limit=0", 400, "limit"),
        ("/v1/timeline?limit=201", 400, "limit"),
        ("/v1/timeline?cursor=x", 400, "cursor"),
        ("/v1/timeline?since=x", 400, "since"),
        ("/v1/timeline/count", 400, "since"),
        ("/v1/timeline/count?since=x", 400, "since"),
        ("/v1/nothing", 404, ""),
    ],
)
def test_what_cannot_be_done_is_a_problem(http, path, status, named):
    """Every error has the same shape, Flask's own included."""
    response = http.get(path, headers=bearer("alice"))
    assert response.status_code == status
    assert response.content_type == "application/problem+json"
    assert named in response.json["detail"]


@pytest.mark.parametrize("headers", [{}, bearer("alice", exp=1), STRANGER.bearer("alice"), bearer("a{b")])
def test_a_wrong_or_missing_token_is_401(http, headers):
    """A timeline is for its owner only."""
    assert http.get("/v1/timeline", headers=headers).status_code == 401


def test_a_token_that_was_verified_is_believed_until_it_expires_and_no_longer(database):
    """The signature is not verified again at every request; that the token is over is noticed to the second."""
    times = []

    class Counted(Issuer):
        def get_signing_key_from_jwt(self, token):
            times.append(token)
            return super().get_signing_key_from_jwt(token)

    issuer = Counted()
    http = client(FakeNodes(), database, issuer)
    headers = issuer.bearer("alice", exp=math.ceil(time.time()) + 1)
    assert {http.get("/v1/timeline", headers=headers).status_code for _ in range(3)} == {200}
    assert len(times) == 1
    eventually(lambda: http.get("/v1/timeline", headers=headers).status_code, 401, within=5)


def test_a_database_that_is_away_is_503_and_not_ready():
    """The process stays alive, says what it waits for, and invites another try."""

    class Away(MemoryDatabase):
        def check(self):
            raise StoreAwayError("DynamoDB did not answer: no route")

        def followees(self, user_id, noted=()):  # noqa: ARG002
            raise StoreAwayError("DynamoDB did not answer: no route")

    http = client(FakeNodes(), Away())
    response = http.get("/v1/timeline", headers=bearer("alice"))
    assert (response.status_code, response.headers["Retry-After"]) == (503, "1")
    assert http.get("/healthz").status_code == 200
    assert http.get("/readyz").status_code == 503


def test_a_cache_is_awaited_at_the_start_and_done_without_later(nodes, database, said):
    """Once it was there, the service is ready without it, and serves from the database."""
    nodes.away = True
    http = client(nodes, database)
    assert "redis" in http.get("/readyz").json["waiting_for"][0]
    nodes.away = False
    assert http.get("/readyz").status_code == 200
    nodes.away = True
    assert http.get("/readyz").status_code == 200
    assert len(http.get("/v1/timeline", headers=bearer("alice")).json["tweets"]) == len(said) - 1
    assert 'timeline_pages_total{source="database"}' in http.get("/metrics").text


@pytest.mark.parametrize(
    "error", [jwt.PyJWKClientConnectionError("no route"), jwt.PyJWKSetError("empty"), ValueError()]
)
def test_an_issuer_that_is_away_is_503(error):
    """Nobody is told that a good token is bad because its key cannot be had."""

    class Away:
        def get_signing_key_from_jwt(self, token):  # noqa: ARG002
            raise error

    http = client(FakeNodes(), MemoryDatabase(), Away())
    response = http.get("/v1/timeline", headers=bearer("alice"))
    assert (response.status_code, response.headers["Retry-After"]) == (503, "1")


def test_openapi_tells_every_route_and_no_other(http):
    """The description is data, so it is held to the routes."""
    described = http.get("/openapi.json").json
    told = {(path, method.upper()) for path, operations in described["paths"].items() for method in operations}
    served = {
        (rule.rule, method)
        for rule in http.application.url_map.iter_rules()
        for method in rule.methods - {"HEAD", "OPTIONS"}
        if rule.rule.startswith("/v1")
    }
    assert told == served
