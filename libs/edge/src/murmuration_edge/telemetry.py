"""One log line and one measurement for each request, under the id that the gateway gave it, and its trace."""

import logging
import re
import time
import uuid
from http import HTTPStatus

from flask import Flask, Response, g, request
from prometheus_client import Histogram

from murmuration_runtime import traces
from murmuration_runtime.logs import request_id, trace_id
from murmuration_runtime.metrics import METRICS

_SECONDS = Histogram("http_request_seconds", "How long requests took.", ["method", "route", "status"], registry=METRICS)
_METHODS = {"GET", "HEAD", "OPTIONS", "POST", "PUT", "DELETE"}
_REQUEST_ID = re.compile(r"[A-Za-z0-9-]{1,64}")
_log = logging.getLogger(__name__)


def own_or_new_id(given: str) -> str:
    """Return the id that a client gave its request, or a new one if that is none."""
    return given if _REQUEST_ID.fullmatch(given) else uuid.uuid4().hex


def install(app: Flask) -> None:
    """Measure and log the requests of this application; every line that is logged meanwhile has the request's ids."""

    @app.before_request
    def begin() -> None:
        request_id.set(own_or_new_id(request.headers.get("X-Request-ID", "")))
        context = request.headers.get(traces.HEADER, "")
        if trace := traces.trace_of(context):
            trace_id.set(trace)
            traces.hand_on(context)
        g.began = time.perf_counter()

    @app.after_request
    def end(response: Response) -> Response:
        seconds = time.perf_counter() - g.began
        rule, asked = request.url_rule, request.method
        route = rule.rule if rule else "none"
        method = asked if asked in _METHODS else "other"
        _SECONDS.labels(method, route, response.status_code).observe(seconds)
        if route.startswith("/v1"):
            fields = {
                "caller": g.get("caller"),
                "method": asked,
                "path": request.path,
                "status": response.status_code,
                "ms": round(seconds * 1000, 1),
            }
            if response.status_code < HTTPStatus.INTERNAL_SERVER_ERROR:
                _log.info("request", extra=fields)
            else:
                _log.warning("request", extra=fields | {"reason": g.get("reason")})
        response.headers["X-Request-ID"] = str(request_id.get())
        request_id.set(None)  # the thread has other work; a teardown function would cost 3 us more
        if trace_id.get():
            trace_id.set(None)
            traces.hand_on(None)
        return response


def install_spans(app: Flask) -> None:
    """Make each request of the API a span of the trace that its client names, or of a new one."""

    @app.before_request
    def begin() -> None:
        if request.url_rule and request.url_rule.rule.startswith("/v1"):
            route = request.url_rule.rule
            about = {"http.request.method": request.method, "http.route": route, "request_id": str(request_id.get())}
            context = [request.headers[traces.HEADER]] if trace_id.get() else []
            g.span = traces.span(f"{request.method} {route}", "SERVER", context, about)
            g.span.__enter__()
            trace_id.set(trace_id.get() or traces.trace_of(traces.traceparent() or ""))

    @app.after_request
    def note(response: Response) -> Response:
        if "span" in g:
            traces.answered(response.status_code)
        return response

    @app.teardown_request
    def end(_: BaseException | None) -> None:
        if span := g.pop("span", None):
            span.__exit__(None, None, None)
