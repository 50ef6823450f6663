"""Spans by OpenTelemetry's SDK. Only traces.start imports this, and only where traces are on."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http import HTTPStatus
from importlib.metadata import version

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, ConsoleSpanExporter, SpanExporter
from opentelemetry.trace import Link, SpanKind, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from opentelemetry.util.re import parse_env_headers

from murmuration_runtime.traces import HEADER, Attributes, Kind, TracedSettings

_W3C = TraceContextTextMapPropagator()


def exporter(settings: TracedSettings) -> SpanExporter:
    """Return what sends spans where the settings say; on the console a span is a line of JSON."""
    if settings.otel_traces_exporter == "console":
        return ConsoleSpanExporter(out=sys.stdout, formatter=lambda span: f"{span.to_json(indent=None)}\n")
    headers = settings.otel_exporter_otlp_headers
    return OTLPSpanExporter(
        f"{settings.otel_exporter_otlp_endpoint.rstrip('/')}/v1/traces",
        headers=parse_env_headers(headers.get_secret_value(), liberal=True) if headers else None,
    )


class OpenTelemetry:
    """The spans of one process, sent in batches by a thread of their own, and the rest at the end."""

    def __init__(self, service: str, to: SpanExporter) -> None:
        resource = Resource.create({"service.name": service, "service.version": version(service)})
        self._provider = TracerProvider(resource=resource)
        self._provider.add_span_processor(BatchSpanProcessor(to))
        self._tracer = self._provider.get_tracer("murmuration")

    @contextmanager
    def span(self, name: str, kind: Kind, contexts: Sequence[str], attributes: Attributes) -> Iterator[None]:
        """Make what happens in this context a span: a child of its one context, or linked with each of several."""
        parent = _context(contexts[0]) if len(contexts) == 1 else Context()
        linked = [trace.get_current_span(_context(it)).get_span_context() for it in contexts] if contexts[1:] else []
        with self._tracer.start_as_current_span(
            name, parent, SpanKind[kind], attributes, [Link(it) for it in linked if it.is_valid]
        ):
            yield

    def finished(self, name: str, kind: Kind, context: str | None, attributes: Attributes, began_ns: int) -> None:
        """Make a span of what began then and ends now."""
        self._tracer.start_span(name, _context(context or ""), SpanKind[kind], attributes, start_time=began_ns).end()

    def answered(self, status: int) -> None:
        """Note the status of the answer; from 500 on it is an error of ours."""
        span = trace.get_current_span()
        span.set_attribute("http.response.status_code", status)
        if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            span.set_status(StatusCode.ERROR)

    def traceparent(self) -> str | None:
        """Return the context of the span that this thread is in, if it is sampled."""
        if not trace.get_current_span().get_span_context().trace_flags.sampled:
            return None
        carrier: dict[str, str] = {}
        _W3C.inject(carrier)
        return carrier.get(HEADER)

    def flush(self) -> None:
        """Send what there is."""
        self._provider.force_flush()

    def close(self) -> None:
        """Send what there is, and end the thread; the end of the process does it, too."""
        self._provider.shutdown()


def _context(traceparent: str) -> Context:
    return _W3C.extract({HEADER: traceparent}, Context())
