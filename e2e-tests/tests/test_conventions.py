"""What holds for every service behind the gateway."""

import json
import os

import pytest

from murmuration_testkit.people import Person, send
from murmuration_testkit.probes import get
from murmuration_testkit.processes import page
from murmuration_testkit.services import PROCESSES, SERVICES

EDGES = [service.name for service in SERVICES.values() if service.is_edge]


@pytest.mark.parametrize("process", PROCESSES)
def test_every_process_can_be_probed_and_scraped(process):
    """Alive, ready, and measured in Prometheus' text format."""
    assert page(process, "/healthz")[0] == 200
    status, ready = page(process, "/readyz")
    assert (status, json.loads(ready)) == (200, {"status": "ready", "waiting_for": []})
    assert "process_resident_memory_bytes" in page(process, "/metrics")[1]


@pytest.mark.parametrize("process", PROCESSES)
@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/metrics"])
def test_the_public_door_shows_no_page_of_operators(process, path):
    """They name stores and tell how busy everybody is."""
    for asked in (path, f"/{process}{path}", f"/v1/../{process}{path}", f"/v1/tweets/..%2f..%2f{process}{path}"):
        _is_problem(send("GET", asked), 404)


@pytest.mark.parametrize("service", EDGES)
def test_every_edge_service_describes_itself(service):
    """OpenAPI 3.1, with the problem as one of its answers."""
    status, told = get(
        f"http://127.0.0.1:{os.environ[SERVICES[service].processes[0].port_variable('PORT')]}/openapi.json"
    )
    assert status == 200
    described = json.loads(told)
    assert described["openapi"].startswith("3.1")
    assert "ProblemDetails" in described["components"]["schemas"]


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "named"),
    [
        ("PUT", "/v1/users/me", {"display_name": "A", "colour": "red"}, 400, "colour"),
        ("PUT", "/v1/users/me", {"display_name": ""}, 422, "display_name"),
        ("POST", "/v1/users/nobody/follow", None, 404, "nobody"),
        ("POST", "/v1/tweets", {"text": ""}, 422, "text"),
        ("POST", "/v1/tweets", {"text": "x" * 281}, 422, "281"),
        ("POST", "/v1/tweets", {"text": "hello", "colour": "red"}, 400, "colour"),
        ("POST", "/v1/tweets", {"text": "x" * 70_000}, 413, "64 KiB"),
        ("GET", "/v1/timeline?limit=1000", None, 400, "limit"),
        ("GET", "/v1/timeline?cursor=made-up", None, 400, "cursor"),
        ("GET", "/v1/nothing", None, 404, ""),
        ("POST", "/v1/users/me", None, 405, ""),
        ("POST", "/v1/users/me/follow-requests/nobody", None, 404, "nobody"),
    ],
)
def test_bad_input_is_a_problem_that_names_it(method, path, body, status, named):
    """Whoever refuses it, gateway or service, the shape is the same."""
    response = send(method, path, headers=Person().join().headers, **({"json": body} if body else {}))
    assert named in _is_problem(response, status)["detail"]


def test_a_body_that_is_not_json_is_refused():
    """By its type, or by its content."""
    headers = Person().headers
    _is_problem(send("POST", "/v1/tweets", headers=headers, body=b"text=hello"), 415)
    _is_problem(send("POST", "/v1/tweets", headers=headers | {"Content-Type": "application/json"}, body=b"{"), 400)


def test_nobody_follows_themselves():
    """422, because the request is understood and still impossible."""
    alice = Person("Alice").join()
    _is_problem(send("POST", f"/v1/users/{alice.user_id}/follow", headers=alice.headers), 422)


def test_a_request_id_goes_all_the_way():
    """The client's own comes back, on a success and in a problem."""
    headers = Person().headers | {"X-Request-ID": "e2e-1234"}
    response = send("GET", "/v1/users/nobody", headers=headers)
    assert response.headers["X-Request-ID"] == "e2e-1234"
    assert _is_problem(response, 404)["request_id"] == "e2e-1234"


def test_what_has_not_changed_is_not_sent_again():
    """A profile and a tweet, by their ETags; HEAD is GET without the body; each header stands once."""
    alice = Person("Alice").join()
    for path in ("/v1/users/me", f"/v1/users/{alice.user_id}", f"/v1/tweets/{alice.tweet('hello')}"):
        shown, head = (send(method, path, headers=alice.headers) for method in ("GET", "HEAD"))
        for name, value in (("Cache-Control", "private, no-cache"), ("X-Content-Type-Options", "nosniff")):
            assert shown.headers[name] == head.headers[name] == value
        assert (head.status, head.data, head.headers["ETag"]) == (200, b"", shown.headers["ETag"])
        again = send("GET", path, headers=alice.headers | {"If-None-Match": shown.headers["ETag"]})
        assert (again.status, again.data) == (304, b"")
    assert send("GET", "/v1/timeline", headers=alice.headers).headers["Cache-Control"] == "private, no-store"


def _is_problem(response, status):
    assert response.status == status, response.data
    assert response.headers["Content-Type"] == "application/problem+json"
    problem = json.loads(response.data)
    assert problem["status"] == status
    assert problem["title"]
    return problem
