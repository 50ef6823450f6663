"""What the gateway refuses by itself, and how: a gateway as its image starts it, before an edge of ours."""

import pytest
from murmuration_gateway.problems import PROBLEMS

from murmuration_edge.gunicorn_worker import REFUSALS
from murmuration_edge.problems import HTTP, UNAVAILABLE
from murmuration_testkit import answer_guard

from .own_gateway import FOLLOW, HOST, is_problem, own_gateway

pytestmark = pytest.mark.stack(shared=False)
LINE = "GET /v1/users/ HTTP/1.1"


@pytest.mark.parametrize(
    ("request_bytes", "status", "code"),
    [
        (b"GET /v1/users/\xc3\xa4 HTTP/1.1\r\n" + HOST, 400, "bad-request"),
        (b"GET /v1/users/a?name=\xc3\xa4 HTTP/1.1\r\n" + HOST, 400, "bad-request"),
        (b"GET /v1/users/a\x01 HTTP/1.1\r\n" + HOST, 400, "bad-request"),
        (b"GET /v1/users/a b HTTP/1.1\r\n" + HOST, 400, "bad-request"),
        (b"GET /v1/users/%00 HTTP/1.1\r\n" + HOST, 400, "bad-request"),
        (b"GET /v1/users/%zz HTTP/1.1\r\n" + HOST, 400, "bad-request"),
        (b"GET /../v1/users/a HTTP/1.1\r\n" + HOST, 400, "bad-request"),
        (b"get /v1/users/a HTTP/1.1\r\n" + HOST, 400, "bad-request"),
        (b"OPTIONS * HTTP/1.1\r\n" + HOST, 400, "bad-request"),
        (FOLLOW + b"\r\n", 400, "bad-request"),
        (FOLLOW + b"Host: e/v\r\n\r\n", 400, "bad-request"),
        (FOLLOW + b"Host: api.example\r\n" + HOST, 400, "bad-request"),
        (FOLLOW + b"X-A: a\0b\r\n" + HOST, 400, "bad-request"),
        (FOLLOW + b"Content-Length: x\r\n" + HOST, 400, "bad-request"),
        (FOLLOW + b"Transfer-Encoding: gzip\r\n" + HOST, 501, "not-implemented"),
        (b"GET /v1/users/a HTTP/9.1\r\n" + HOST, 505, "not-implemented"),
        (b"GET /v1//users/a HTTP/1.1\r\n" + HOST, 404, "no-route"),
        (b"GET /v2/users/a HTTP/1.1\r\n" + HOST, 404, "no-route"),
        (b"GET /metrics HTTP/1.1\r\n" + HOST, 404, "no-route"),
        (b"GET /problem HTTP/1.1\r\n" + HOST, 404, "no-route"),
        (b"GET /problem HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n", 421, "wrong-host"),
        (b"AB /problem HTTP/1.1\r\n" + HOST, 405, "method-not-allowed"),
        (b'GET /openapi.json HTTP/1.1\r\nIf-Match: "old"\r\n' + HOST, 412, "precondition-failed"),
        (b"AB /v1/users/a HTTP/1.1\r\n" + HOST, 405, "method-not-allowed"),
        (b"A" * 21 + b" /v1/users/a HTTP/1.1\r\n" + HOST, 405, "method-not-allowed"),
        (b"POST /v1/tweets HTTP/1.1\r\nContent-Length: 65537\r\n" + HOST, 413, "body-too-large"),
        (FOLLOW + b"X-A: " + b"a" * 8190 + b"\r\n" + HOST, 431, "headers-too-large"),
        (FOLLOW + b"".join(b"X-%d: %s\r\n" % (n, b"a" * 8000) for n in range(5)) + HOST, 431, "headers-too-large"),
        (b"GET /v1/users/" + b"a" * 100_000 + b" HTTP/1.1\r\n" + HOST, 414, "uri-too-long"),
        (b"GET /v1/timeline HTTP/1.1\r\n" + HOST, 503, "unavailable"),
        (FOLLOW + b"Host: evil.example\r\nConnection: close\r\n\r\n", 421, "wrong-host"),
        (b"GET http://evil.example/v1/users/a HTTP/1.1\r\n" + HOST, 421, "wrong-host"),
        (b"GET /v1/users/a HTTP/1.0\r\n\r\n", 421, "wrong-host"),
    ],
)
def test_whatever_it_refuses_is_a_problem(gateway, request_bytes, status, code):
    """Nginx has pages of its own, in HTML, for requests that it cannot even read."""
    answer = gateway.send(request_bytes)
    is_problem(answer, status, code)
    assert answer.headers["Retry-After"] == ("1" if status == 503 else None)
    assert answer.headers["Cache-Control"] == "private, no-store"


def test_a_request_line_of_8190_bytes_is_handed_on_and_a_longer_one_is_not(gateway):
    """What the gateway lets through gunicorn takes, too."""
    fits = "a" * (8190 - len(LINE))
    assert gateway.ask("GET", f"/v1/users/{fits}").json["path"] == f"/v1/users/{fits}"
    is_problem(gateway.ask("GET", f"/v1/users/{fits}a"), 414, "uri-too-long")


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("TRACE", "/v1/users/me", "DELETE, GET, HEAD, OPTIONS, PUT"),
        ("TRACE", "/v1/users/a/follow", "DELETE, OPTIONS, POST"),
        ("CONNECT", "/v1/timeline?limit=3", "GET, HEAD, OPTIONS"),
    ],
)
def test_a_method_that_nginx_refuses_by_itself_is_told_which_there_are(gateway, method, path, allowed):
    """As the edge tells for every other."""
    answer = gateway.ask(method, path)
    is_problem(answer, 405, "method-not-allowed")
    assert answer.headers["Allow"] == allowed


def test_an_answer_that_is_not_described_is_noted(gateway, tmp_path):
    """Each answer that is no repetition of ours: here of an nginx with pages of its own."""
    with own_gateway(tmp_path, FOLLOW_SERVICE=f"127.0.0.1:{gateway.admin_port}") as running:
        running.ask("GET", "/v1/users/a")
    found = "\n".join(answer_guard.faults)
    answer_guard.faults.clear()
    assert "GET /v1/users/{user_id}: 404: is text/html, not application/problem+json" in found


def test_each_problem_that_edges_have_too_has_their_code():
    """Who reads `code` need not know who answered."""
    ours = {each.status: each.code for each in PROBLEMS}
    of_edges = [*HTTP.values(), UNAVAILABLE, *(problem for problem, _ in REFUSALS.values())]
    theirs = {each.status: each.code for each in of_edges}
    assert {status: ours[status] for status in ours.keys() & theirs.keys()} == {
        status: theirs[status] for status in ours.keys() & theirs.keys()
    }
