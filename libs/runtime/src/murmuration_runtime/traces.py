"""Traces, if somebody asks for them; a process that nobody asked imports no tracer.

Rule: a trace begins with a request. Its context is W3C's text `traceparent`: it comes with the request, lies in the row
that the request writes, and goes as a header with the event that the row gives. What brings none begins a trace. A
process that does not trace hands on what came, so that a trace has no hole where it was.
"""

import re
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from typing import Literal, Protocol

from pydantic import SecretStr

from murmuration_runtime.settings import ServiceSettings

HEADER = "traceparent"
Kind = Literal["SERVER", "PRODUCER", "CONSUMER"]
Attributes = Mapping[str, str | int | Sequence[str]]


class TracedSettings(ServiceSettings):
    """Where traces go, by OpenTelemetry's names; its SDK reads the other OTEL_* itself."""

    otel_exporter_otlp_endpoint: str = ""
    otel_exporter_otlp_headers: SecretStr | None = None
    otel_traces_exporter: Literal["otlp", "console", "none"] = "otlp"

    @property
    def traces(self) -> bool:
        """Tell whether this process is to trace."""
        return self.otel_traces_exporter == "console" or (
            self.otel_traces_exporter == "otlp" and bool(self.otel_exporter_otlp_endpoint)
        )


class Tracing(Protocol):
    """What makes spans; open_telemetry.OpenTelemetry."""

    def span(
        self, name: str, kind: Kind, contexts: Sequence[str], attributes: Attributes
    ) -> AbstractContextManager[None]:
        """Make what happens in this context a span."""

    def finished(self, name: str, kind: Kind, context: str | None, attributes: Attributes, began_ns: int) -> None:
        """Make a span of what began then and ends now."""

    def answered(self, status: int) -> None:
        """Note the status of the answer on the span that this thread is in."""

    def traceparent(self) -> str | None:
        """Return the context of the span that this thread is in, if it is sampled."""


NO_SPAN = nullcontext()
_CONTEXT = re.compile(r"(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-([0-9a-f]{2})(-[!-~]{0,64})?")
_tracing: Tracing | None = None
_came: ContextVar[str | None] = ContextVar("traceparent", default=None)


def start(service: str, settings: TracedSettings) -> None:
    """Trace from now on, if the settings say so; in the process that works, since a fork takes no threads along."""
    if settings.traces:
        from murmuration_runtime.open_telemetry import OpenTelemetry, exporter  # noqa: PLC0415  see the top

        use(OpenTelemetry(service, exporter(settings)))


def use(tracing: Tracing | None) -> None:
    """Trace with this from now on, or not at all."""
    global _tracing  # noqa: PLW0603  there is one for a process, as there is one METRICS
    _tracing = tracing


def are_on() -> bool:
    """Tell whether this process traces; whoever would have to prepare something for a span asks first."""
    return _tracing is not None


def span(name: str, kind: Kind, contexts: Sequence[str], attributes: Attributes) -> AbstractContextManager[None]:
    """Make what happens in this context a span: a child of the one context that it has, linked with several."""
    return _tracing.span(name, kind, contexts, attributes) if _tracing else NO_SPAN


def finished(name: str, kind: Kind, context: str | None, attributes: Attributes, began_ns: int) -> None:
    """Make a span of what began then and ends now."""
    if _tracing:
        _tracing.finished(name, kind, context, attributes, began_ns)


def answered(status: int) -> None:
    """Note the status of the answer on the span that this thread is in."""
    if _tracing:
        _tracing.answered(status)


def traceparent() -> str | None:
    """Return what a row carries of the request that writes it; None where nobody traces that."""
    return _tracing.traceparent() if _tracing else _came.get()


def trace_of(context: str) -> str | None:
    """Return the trace's id in a traceparent; None if W3C would not have it."""
    read = _CONTEXT.fullmatch(context)
    return read[1] if read and not (context.startswith("00") and read[3]) else None


def hand_on(context: str | None) -> None:
    """Note what this thread's request brought, for a process that does not trace; what is not sampled ends here."""
    read = _CONTEXT.fullmatch(context) if context else None
    _came.set(context if read and int(read[2], 16) & 1 else None)
