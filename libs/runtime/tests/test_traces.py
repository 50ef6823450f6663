"""Spans are made where somebody asks for them, in the trace that was carried there; elsewhere no tracer is imported."""

import json
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from murmuration_runtime import traces
from murmuration_runtime.open_telemetry import OpenTelemetry, exporter
from murmuration_runtime.traces import TracedSettings

TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
CARRIED = f"00-{TRACE}-{SPAN}-01"
OTHER = f"00-{'1' * 32}-{'2' * 16}-01"


def hex_ids(context):
    return f"{context.trace_id:032x}", f"{context.span_id:016x}"


def test_a_span_is_a_child_of_the_one_context_that_came(spans):
    """And what it carries on has the same trace, under its own id."""
    with traces.span("handle", "CONSUMER", [CARRIED], {"event_id": ["e"]}):
        carried_on = traces.traceparent()
    (span,) = spans()
    assert hex_ids(span.parent) == (TRACE, SPAN)
    assert carried_on == "00-{}-{}-01".format(*hex_ids(span.context))
    assert (span.name, span.kind.name, span.attributes["event_id"]) == ("handle", "CONSUMER", ("e",))
    assert span.resource.attributes["service.name"] == "murmuration-runtime"


def test_a_span_of_several_contexts_is_linked_with_each(spans):
    """A batch belongs to no one trace."""
    with traces.span("handle", "CONSUMER", [CARRIED, OTHER, "nonsense"], {}):
        pass
    (span,) = spans()
    assert span.parent is None
    assert [hex_ids(link.context) for link in span.links] == [(TRACE, SPAN), ("1" * 32, "2" * 16)]


@pytest.mark.parametrize("contexts", [[], ["nonsense"], [""]])
def test_without_a_context_a_trace_begins(spans, contexts):
    """Whatever a client sends."""
    with traces.span("GET /v1/x", "SERVER", contexts, {}):
        traces.answered(503)
    traces.finished("publish", "PRODUCER", contexts[0] if contexts else None, {}, 5)
    request, published = spans()
    assert (request.parent, published.parent, published.start_time) == (None, None, 5)
    assert request.status.status_code.name == "ERROR"
    assert request.attributes["http.response.status_code"] == 503
    assert request.context.trace_id != published.context.trace_id


def test_what_is_not_sampled_is_not_carried_on(spans):
    """A row of it would be longer for nobody."""
    with traces.span("GET /v1/x", "SERVER", [CARRIED[:-1] + "0"], {}):
        assert traces.traceparent() is None
    assert spans() == ()


def test_a_process_that_does_not_trace_hands_on_what_came():
    """As long as its client, or whoever else began the trace, samples it."""
    for came, handed_on in ((CARRIED, CARRIED), (CARRIED[:-1] + "0", None), ("nonsense", None), (None, None)):
        traces.hand_on(came)
        assert traces.traceparent() == handed_on


def test_traces_that_are_off_make_nothing():
    """Whoever asks all the same gets nothing, and pays nothing."""
    assert not traces.are_on()
    assert traces.traceparent() is None
    assert traces.span("a", "SERVER", [], {}) is traces.span("b", "CONSUMER", [CARRIED], {})


@pytest.mark.parametrize(
    ("settings", "on"),
    [
        ({}, False),
        ({"otel_exporter_otlp_endpoint": "http://collector:4318"}, True),
        ({"otel_exporter_otlp_endpoint": "http://collector:4318", "otel_traces_exporter": "none"}, False),
        ({"otel_traces_exporter": "console"}, True),
    ],
)
def test_traces_are_on_where_the_settings_say_where_to(settings, on):
    """By OpenTelemetry's own names."""
    assert TracedSettings(admin_port=1, **settings).traces is on


@pytest.mark.parametrize("module", ["worker.worker", "edge.gunicorn", "runtime.admin"])
def test_a_process_that_does_not_trace_imports_no_tracer(module):
    """Neither at its start nor for its settings; redis-py imports OpenTelemetry's metrics by itself where they are."""
    ask = (
        f"import murmuration_{module}, sys; from murmuration_runtime import traces;"
        "traces.start('x', traces.TracedSettings(admin_port=1));"
        "tracer = 'opentelemetry.sdk.trace', 'opentelemetry.exporter', 'murmuration_runtime.open_telemetry';"
        "print([m for m in sys.modules if m.startswith(tracer)])"
    )
    needed = ["PORT", "ADMIN_PORT"]
    environment = dict.fromkeys(needed, "1") | {
        "JWT_JWKS_URL": "http://a",
        "JWT_ISSUER": "a",
        "JWT_AUDIENCE": "a",
    }
    done = subprocess.run([sys.executable, "-c", ask], env=environment, capture_output=True, text=True, check=False)  # noqa: S603
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_spans_arrive_over_http_with_the_headers_of_the_settings(collector):
    """As a collector of OpenTelemetry takes them, and when the process ends at the latest."""
    came, url = collector
    settings = TracedSettings(
        admin_port=1, otel_exporter_otlp_endpoint=url, otel_exporter_otlp_headers="authorization=Bearer secret"
    )
    tracing = OpenTelemetry("murmuration-runtime", exporter(settings))
    tracing.finished("publish", "PRODUCER", CARRIED, {}, 5)
    tracing.close()
    (path, authorization, body) = came.pop()
    assert (path, authorization) == ("/v1/traces", "Bearer secret")
    (resource,) = ExportTraceServiceRequest.FromString(body).resource_spans
    assert resource.scope_spans[0].spans[0].trace_id.hex() == TRACE
    assert "secret" not in repr(settings)


def test_on_the_console_a_span_is_a_line_of_json(capsys):
    """For whoever has no collector."""
    tracing = OpenTelemetry(
        "murmuration-runtime", exporter(TracedSettings(admin_port=1, otel_traces_exporter="console"))
    )
    tracing.finished("publish", "PRODUCER", CARRIED, {}, 5)
    tracing.close()
    assert json.loads(capsys.readouterr().out)["context"]["trace_id"] == f"0x{TRACE}"


@pytest.fixture
def collector():
    """A receiver of OTLP over HTTP: what came, and its address."""
    came = []

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            came.append((self.path, self.headers["Authorization"], body))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield came, f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
