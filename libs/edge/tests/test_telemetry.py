"""Requests are measured, and logged under their id."""

import json
import logging

import pytest

from murmuration_runtime import traces
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


def test_a_request_is_a_span_of_the_trace_that_its_client_names(spans):
    """By its route, with the id of its lines in the log; what it asks of a store can carry it on."""
    carried = f"00-{'a' * 32}-{'b' * 16}-01"
    seen = []
    traced = SETTINGS.model_copy(update={"otel_exporter_otlp_endpoint": "http://collector"})
    http = create_app(traced, ISSUER, lambda: seen.append(traces.traceparent())).test_client()
    http.get("/v1/things/x", headers=bearer("alice") | {"X-Request-ID": "abc-123", "traceparent": carried})
    http.get("/v1/things/x")
    http.get("/openapi.json")
    first, second = spans()
    assert (first.name, first.attributes["request_id"]) == ("GET /v1/things/<name>", "abc-123")
    assert f"{first.parent.trace_id:032x}" == "a" * 32
    assert seen == [f"00-{'a' * 32}-{first.context.span_id:016x}-01"]
    assert [span.attributes["http.response.status_code"] for span in (first, second)] == [200, 401]
    assert second.parent is None


@pytest.mark.parametrize(
    ("sent", "trace", "carried"),
    [
        (f"00-{'a' * 32}-{'b' * 16}-01", "a" * 32, f"00-{'a' * 32}-{'b' * 16}-01"),
        (f"00-{'a' * 32}-{'b' * 16}-00", "a" * 32, None),
        (f"cc-{'a' * 32}-{'b' * 16}-01-more", "a" * 32, f"cc-{'a' * 32}-{'b' * 16}-01-more"),
        (f"00-{'a' * 32}-{'b' * 16}-01-more", None, None),
        (f"00-{'A' * 32}-{'b' * 16}-01", None, None),
        (f"00-{'0' * 32}-{'b' * 16}-01", None, None),
        (f"00-{'a' * 32}-{'0' * 16}-01", None, None),
        (f"ff-{'a' * 32}-{'b' * 16}-01", None, None),
        ("nonsense", None, None),
    ],
)
def test_a_process_that_does_not_trace_logs_the_trace_and_hands_it_on(lines, sent, trace, carried):
    """On every line of that request and of no other; a context that is none, or not sampled, goes no further."""
    seen = []

    def ask():
        logging.getLogger("store").warning("slow")
        seen.append(traces.traceparent())

    http = create_app(SETTINGS, ISSUER, ask).test_client()
    http.get("/v1/things/x", headers=bearer("alice") | {"traceparent": sent})
    http.get("/v1/things/x", headers=bearer("alice"))
    assert [line.get("trace_id") for line in lines] == [trace, trace, None, None]
    assert seen == [carried, None]


def test_a_request_that_begins_a_trace_is_logged_with_it(spans, lines):
    """Whoever finds the line finds the trace."""
    traced = SETTINGS.model_copy(update={"otel_exporter_otlp_endpoint": "http://collector"})
    create_app(traced, ISSUER).test_client().get("/v1/things/x", headers=bearer("alice"))
    assert [line["trace_id"] for line in lines] == [f"{spans()[0].context.trace_id:032x}"]


def test_a_line_about_a_failure_has_the_id_that_the_client_was_given(lines):
    """Both lines: what went wrong, and the request's own."""

    def ask():
        raise RuntimeError("secret")

    response = create_app(SETTINGS, ISSUER, ask).test_client().get("/v1/things/x", headers=bearer("alice"))
    assert [line["message"] for line in lines] == ["unforeseen error", "request"]
    assert {line["request_id"] for line in lines} == {response.headers["X-Request-ID"]} == {response.json["request_id"]}
