"""Requests are measured, and logged under their id."""

import json
import logging

import pytest

from murmuration_runtime.logs import QUIET, Formatter, request_id
from murmuration_runtime.metrics import METRICS

from .conftest import ISSUER, SETTINGS, bearer
from .served import create_app


@pytest.fixture
def lines():
    """What is written to stderr meanwhile, as JSON."""
    written, handler = [], logging.Handler()
    handler.emit = lambda record: written.append(json.loads(Formatter().format(record)))
    handler.addFilter(lambda record: record.name.split(".")[0] not in QUIET)
    root = logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel("INFO")
    yield written
    root.removeHandler(handler)
    root.setLevel(level)


def test_every_line_of_a_request_carries_its_id(lines):
    """The gateway's id is in the answer, in the request's own line, and in whatever else is logged on the way."""
    ask = lambda: logging.getLogger("store").warning("slow")  # noqa: E731
    http = create_app(SETTINGS, ISSUER, ask).test_client()
    response = http.get("/v1/things/x", headers=bearer("alice") | {"X-Request-ID": "abc-123"})
    assert response.headers["X-Request-ID"] == "abc-123"
    slow, line = lines
    assert (slow["message"], slow["request_id"]) == ("slow", "abc-123")
    ms = line.pop("ms")
    assert 0 <= ms < 10_000
    assert {name: line[name] for name in line.keys() - {"time", "logger"}} == {
        "message": "request",
        "level": "INFO",
        "request_id": "abc-123",
        "caller": "alice",
        "method": "GET",
        "path": "/v1/things/x",
        "status": 200,
    }
    assert request_id.get() is None


@pytest.mark.parametrize("given", ["", "a b", "x" * 65, "é"])
def test_an_id_that_could_not_be_printed_is_replaced(http, given):
    """Each request gets one of its own."""
    ids = [http.get("/v1/nothing", headers={"X-Request-ID": given}).headers["X-Request-ID"] for _ in range(2)]
    assert given not in ids
    assert ids[0] != ids[1]


def test_requests_are_measured_by_route(http):
    """Not by path, of which there are too many; an unknown path and an unknown method are one each."""

    def counted(**labels):
        return METRICS.get_sample_value("http_request_seconds_count", labels) or 0

    label_sets = [
        {"method": "GET", "route": "/v1/things/<name>", "status": "200"},
        {"method": "other", "route": "none", "status": "404"},
    ]
    before = [counted(**labels) for labels in label_sets]
    for name in ("a", "b"):
        http.get(f"/v1/things/{name}", headers=bearer("alice"))
        http.open(f"/{name}", method="BREW")
    assert [counted(**labels) for labels in label_sets] == [count + 2 for count in before]
