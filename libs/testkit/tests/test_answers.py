"""What differs from the document is named."""

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import flask
import pytest

from murmuration_testkit import answer_guard, people
from murmuration_testkit.answers import Described

HEADERS = {"X-Request-ID": "1", "Content-Type": "application/json"}
PROBLEM = {"X-Request-ID": "1", "Content-Type": "application/problem+json"}
THING = {
    "type": "object",
    "required": ["name"],
    "properties": {"name": {"type": "string", "pattern": "^[a-z]+$"}, "other": {"type": "null"}},
}


def _answer(schema, *headers, kind="application/json"):
    named = {name: {"$ref": f"#/components/headers/{name}"} for name in ("X-Request-ID", *headers)}
    return {"description": "", "headers": named, "content": {kind: {"schema": schema}}}


DOCUMENT = {
    "paths": {
        "/v1/things/{name}": {
            "get": {
                "responses": {
                    "200": _answer({"$ref": "#/components/schemas/Thing"}, "Link"),
                    "204": {"description": "", "headers": {}},
                    "503": _answer(
                        {"$ref": "#/components/schemas/ProblemDetails"}, "Retry-After", kind="application/problem+json"
                    ),
                }
            },
            "delete": {"responses": {"200": _answer({"$ref": "#/components/schemas/Thing"})}},
        },
        "/v1/things/best": {"get": {"responses": {"204": {"description": "", "headers": {}}}}},
    },
    "components": {
        "headers": {
            "X-Request-ID": {"required": True, "schema": {"type": "string"}},
            "Link": {"required": False, "schema": {"type": "string"}},
            "Retry-After": {"required": True, "schema": {"type": "integer", "minimum": 0}},
        },
        "schemas": {
            "Thing": THING,
            "ProblemDetails": {"type": "object", "required": ["code"], "properties": {"code": {"type": "string"}}},
        },
    },
}


@pytest.mark.parametrize(
    ("method", "path", "status", "headers", "body", "fault"),
    [
        ("GET", "/v1/things/x", 200, {}, b'{"name": "a"}', None),
        ("DELETE", "/v1/things/best", 200, {}, b'{"name": "a"}', None),
        ("GET", "/v1/things/x?a=/b", 200, {"Link": "x", "Date": "now"}, b'{"name": "a", "other": null}', None),
        ("HEAD", "/v1/things/x", 200, {}, b"", None),
        ("GET", "/v1/things/x", 200, {}, b"", "has no body"),
        ("GET", "/v1/things/x", 418, {}, b"{}", "418: is not described"),
        ("GET", "/v1/things/x", 200, {}, b"{}", '"name" is a required property'),
        ("GET", "/v1/things/x", 200, {}, b'{"name": "A"}', "the body/name: "),
        ("GET", "/v1/things/x", 200, {}, b'{"name": "a", "secret": 1}', "'secret' was unexpected"),
        ("GET", "/v1/things/x", 200, {"X-Other": "1"}, b'{"name": "a"}', "the header x-other is not described"),
        ("GET", "/v1/things/x", 200, {"Content-Type": "text/html"}, b"<p>", "is text/html, not application/json"),
        ("GET", "/v1/things/x", 204, {"X-Request-ID": None}, b"", None),
        ("GET", "/v1/things/x", 204, {"X-Request-ID": None}, b"hello", "has a body"),
        ("GET", "/v1/things/x", 503, PROBLEM, b'{"code": "a"}', "the header Retry-After is missing"),
        ("GET", "/v1/things/x", 503, PROBLEM | {"Retry-After": "2"}, b'{"code": "a"}', None),
        ("GET", "/v1/things/x", 503, PROBLEM | {"Retry-After": "soon"}, b'{"code": "a"}', "Retry-After: "),
        ("GET", "/v1/things/best", 200, {}, b'{"name": "a"}', "200: is not described"),
        ("GET", "/v1/nothing", 404, PROBLEM, b'{"code": "a"}', None),
        ("GET", "/v1/nothing", 404, {}, b'{"code": "a"}', "is application/json, not application/problem+json"),
        ("GET", "/v1/nothing", 200, {}, b"", "neither the path nor the method"),
        ("BREW", "/v1/things/x", 405, PROBLEM | {"Allow": "GET"}, b'{"code": "a"}', None),
        ("BREW", "/v1/things/x", 405, PROBLEM, b'{"code": "a"}', "the header Allow is missing"),
        ("BREW", "/v1/things/x", 500, PROBLEM, b'{"code": "a"}', "neither the path nor the method"),
        ("OPTIONS", "/v1/things/x", 200, {"Allow": "GET"}, b"", None),
        ("GET", "/metrics", 200, {}, b"", None),
    ],
)
def test_what_is_not_described_is_a_fault(method, path, status, headers, body, fault):
    """Each kind of difference, and what is none."""
    sent = {name: value for name, value in (HEADERS | headers).items() if value is not None}
    found = Described(DOCUMENT).faults(method, path, status, sent, body)
    assert len(found) == (fault is not None), found
    assert fault is None or fault in found[0]


def test_an_app_that_answers_something_else_is_noted():
    """Whoever asks it, and without a word in the test."""
    app = flask.Flask("things")
    app.add_url_rule("/openapi.json", "openapi", lambda: flask.jsonify(DOCUMENT))
    app.add_url_rule("/v1/things/<name>", "thing", lambda name: flask.jsonify(name=name, secret=1))
    app.test_client().get("/v1/things/x")
    missing, secret = answer_guard.faults
    answer_guard.faults.clear()
    assert missing == "GET /v1/things/{name}: 200: the header X-Request-ID is missing"
    assert "'secret' was unexpected" in secret


@contextmanager
def gateway(body: bytes) -> Iterator[str]:
    """Answer everything with this, and nothing but HTTP's own headers."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            """Say nothing."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_a_gateway_that_answers_something_else_is_noted(monkeypatch):
    """As the document of the whole API says, of whatever `people` ask."""
    with gateway(b'{"count": "many", "more": false}') as url:
        monkeypatch.setenv("GATEWAY_URL", url)
        people.send("GET", "/v1/timeline/count?since=x", headers={"Connection": "close"})
    missing, count = answer_guard.faults
    answer_guard.faults.clear()
    assert missing == "GET /v1/timeline/count: 200: the header X-Request-ID is missing"
    assert count.startswith("GET /v1/timeline/count: 200: the body/count: ")
