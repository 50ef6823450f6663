"""Every error has one shape, and says what was wrong."""

import flask
import pytest
from werkzeug.exceptions import default_exceptions

from murmuration_edge.problems import HTTP
from murmuration_runtime.errors import StoreAwayError

from .conftest import ISSUER, SETTINGS, bearer
from .served import CrowdedError, create_app


@pytest.mark.parametrize(
    ("body", "status", "named"),
    [
        (b"{", 400, "JSON"),
        (b'{"name": "A", "colour": "red"}', 400, "colour"),
        (b'{"name": 5}', 400, "name"),
        (b'{"name": "A", "count": "1"}', 400, "count"),
        (b'{"name": "A", "count": null}', 400, "count"),
        (b"{}", 400, "name"),
        (b"[]", 400, "body"),
        (b'{"name": "\\ud800"}', 400, "body"),
        (b'{"name": "A", "name": "B"}', 400, "name"),
        (b'{"name": "A", "count": 1, "count": 1}', 400, "count"),
        (b"[" * 60_000, 400, "body"),
        (b'{"name": "\xff"}', 400, "body"),
        (b'{"name": "' + b"x" * 100_000 + b'"}', 413, "64 KiB"),
    ],
)
def test_a_bad_body_is_named(http, body, status, named):
    """The problem says which field, in RFC 9457's shape."""
    response = http.put("/v1/things", data=body, content_type="application/json", headers=bearer("alice"))
    assert response.status_code == response.json["status"] == status
    assert response.content_type == "application/problem+json"
    assert named in response.json["detail"]
    assert response.json["request_id"] == response.headers["X-Request-ID"]
    if status == 400:
        assert response.json["errors"][0]["pointer"] == ("#" if named in ("body", "JSON") else f"#/{named}")


@pytest.mark.parametrize(
    ("member", "pointer"), [("a b", "#/a%20b"), ("m~n/é", "#/m~0n~1%C3%A9"), ("c%d", "#/c%25d"), ("#", "#/%23")]
)
def test_a_pointer_can_be_followed(http, member, pointer):
    """Whatever a member is called, it is a URI fragment (RFC 6901, section 6); the sentence has the name itself."""
    response = http.put("/v1/things", json={"name": "A", member: 1}, headers=bearer("alice"))
    assert [each["pointer"] for each in response.json["errors"]] == [pointer]
    assert member in response.json["detail"]


@pytest.mark.parametrize(
    ("method", "path", "status", "named"),
    [
        ("get", "/v1/things/teapot", 418, "teapot"),
        ("put", "/v1/things", 415, "application/json"),
        ("post", "/v1/things", 405, "Allow names"),
        ("get", "/v1/nothing", 404, "No route"),
    ],
)
def test_what_cannot_be_done_is_a_problem(http, method, path, status, named):
    """The service's own errors, and Flask's."""
    response = getattr(http, method)(path, headers=bearer("alice"))
    assert response.status_code == status
    assert response.content_type == "application/problem+json"
    assert named in response.json["detail"]
    assert (status == 405) == ("Allow" in response.headers)


@pytest.mark.parametrize("status", HTTP)
def test_what_flask_refuses_is_said_in_our_words(status):
    """Flask writes for somebody at a browser, who may have mistyped an address."""

    def ask():
        flask.abort(status)

    app = create_app(SETTINGS, ISSUER)
    app.add_url_rule("/asked", view_func=ask)
    response = app.test_client().get("/asked")
    assert response.status_code == status
    assert response.json["detail"] != default_exceptions[status].description


@pytest.mark.parametrize("path", ["/v1//things/x", "/v1/things//../x", "//v1/things/x"])
def test_a_path_with_two_slashes_is_no_other_path(http, path):
    """Werkzeug would redirect it, in HTML, to an address with whatever host was asked for."""
    response = http.get(path, headers=bearer("alice"))
    assert (response.status_code, response.content_type) == (404, "application/problem+json")
    assert "Location" not in response.headers


def test_a_store_that_is_away_is_503(caplog):
    """The client hears when to try again; the log says why, once, and the client need not know."""

    def ask():
        raise StoreAwayError("DynamoDB did not answer: no route to 10.0.0.1")

    response = create_app(SETTINGS, ISSUER, ask).test_client().get("/v1/things/x", headers=bearer("alice"))
    assert (response.status_code, response.headers["Retry-After"]) == (503, "1")
    assert response.json["detail"] == "The service cannot do this now. Try again in 1 s."
    (line,) = caplog.records
    assert (line.message, line.status, line.reason) == (
        "request",
        503,
        "DynamoDB did not answer: no route to 10.0.0.1",
    )


def test_an_error_may_say_how_long_to_wait():
    """A second, unless it does."""

    def ask():
        raise CrowdedError

    response = create_app(SETTINGS, ISSUER, ask).test_client().get("/v1/things/x", headers=bearer("alice"))
    assert response.headers["Retry-After"] == "7"
    assert "in 7 s" in response.json["detail"]


def test_what_nobody_foresaw_is_a_500_without_details(caplog):
    """The client gets a request id, the log gets the error."""

    def ask():
        raise RuntimeError("secret")

    response = create_app(SETTINGS, ISSUER, ask).test_client().get("/v1/things/x", headers=bearer("alice"))
    assert response.status_code == 500
    assert "secret" not in response.text
    assert "RuntimeError: secret" in caplog.text
