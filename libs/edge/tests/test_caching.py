"""What a client, or what stands between, may keep of an answer."""

import pytest

from murmuration_testkit.tokens import DAY_S

from .conftest import bearer

ALICE = bearer("alice", lifetime_s=DAY_S)  # a whole run may pass before its tests


@pytest.mark.parametrize("path", ["/v1/things", "/v1/things/teapot", "/v1/nothing", "/openapi.json"])
def test_nobody_keeps_an_answer_unless_it_says_so(http, path):
    """Lists, problems, and what is not there."""
    response = http.get(path, headers=ALICE)
    assert response.headers["Cache-Control"] == "private, no-store"
    assert "ETag" not in response.headers


@pytest.mark.parametrize("path", ["/v1/things", "/v1/things/x", "/v1/nothing", "/openapi.json"])
def test_every_answer_is_what_its_type_says(http, path):
    """No browser guesses that JSON is a page."""
    assert http.get(path, headers=ALICE).headers["X-Content-Type-Options"] == "nosniff"


def test_what_has_not_changed_is_not_sent_again(http):
    """A tag of the caller's own representation: what somebody else sees has another."""
    first = http.get("/v1/things/x", headers=ALICE)
    tag = first.headers["ETag"]
    assert (first.headers["Cache-Control"], first.headers["Vary"]) == ("private, no-cache", "Authorization")
    for sent in (tag, f"W/{tag}", f'"other", {tag}', "*"):
        again = http.get("/v1/things/x", headers=ALICE | {"If-None-Match": sent})
        assert (again.status_code, again.data, again.headers["ETag"]) == (304, b"", tag)
        assert again.headers["X-Request-ID"]
        assert "Content-Type" not in again.headers
    for path, who in (("/v1/things/y", "alice"), ("/v1/things/x", "bob")):
        assert http.get(path, headers=bearer(who) | {"If-None-Match": tag}).status_code == 200


def test_who_may_not_see_it_is_not_told_that_it_has_not_changed(http):
    """The question comes after the answer."""
    assert http.get("/v1/things/x", headers={"If-None-Match": "*"}).status_code == 401
    assert http.get("/v1/things/teapot", headers=ALICE | {"If-None-Match": "*"}).status_code == 418


def test_a_head_is_the_get_without_its_body(http):
    """Status and headers are the same, but for the request's own id."""
    for path in ("/v1/things/x", "/v1/things?limit=2", "/v1/things/teapot"):
        got, head = http.get(path, headers=ALICE), http.head(path, headers=ALICE)
        assert head.data == b""
        assert head.status_code == got.status_code
        own = {"X-Request-ID"} if got.status_code == 200 else {"X-Request-ID", "Content-Length"}
        assert {(k, v) for k, v in head.headers if k not in own} == {(k, v) for k, v in got.headers if k not in own}
    tag = http.get("/v1/things/x", headers=ALICE).headers["ETag"]
    assert http.head("/v1/things/x", headers=ALICE | {"If-None-Match": tag}).status_code == 304


def test_anybody_may_ask_which_methods_a_path_has(http):
    """A browser asks before it has a token; any other method of it is refused, with what there is."""
    asked = http.options("/v1/things")
    assert (asked.status_code, asked.data) == (200, b"")
    refused = http.open("/v1/things", method="TRACE", headers=ALICE)
    assert refused.status_code == 405
    for each in (asked, refused):
        assert {*each.headers["Allow"].split(", ")} == {"GET", "HEAD", "OPTIONS", "PUT"}
    assert http.options("/v1/nothing").status_code == 404


def test_which_methods_a_path_has_is_told_whatever_the_client_has_already(http):
    """It is no representation of the thing: it has no tag, and is never 304."""
    asked = http.options("/v1/things/x", headers={"If-None-Match": "*"})
    assert (asked.status_code, asked.headers["Cache-Control"]) == (200, "private, no-store")
    assert "ETag" not in asked.headers
    assert "GET" in asked.headers["Allow"]
