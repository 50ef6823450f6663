"""One log line and one measurement for each request, under the id that the gateway gave it."""

import logging
import re
import time
import uuid

from flask import Flask, Response, g, request
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector

METRICS = CollectorRegistry()
ProcessCollector(registry=METRICS)
_SECONDS = Histogram("http_request_seconds", "How long requests took.", ["method", "route", "status"], registry=METRICS)
PAGES = Counter("timeline_pages", "Pages, by where they came from.", ["source"], registry=METRICS)
CELEBRITIES_AGE = Gauge("celebrities_age_seconds", "Since the set of celebrities was read.", registry=METRICS)
REBUILDS = Gauge("timeline_rebuilds_in_flight", "Timelines that are being built.", registry=METRICS)
_METHODS = {"GET", "HEAD", "OPTIONS", "POST", "PUT", "DELETE"}
_REQUEST_ID = re.compile(r"[A-Za-z0-9-]{1,64}")
_log = logging.getLogger(__name__)


def install(app: Flask) -> None:
    """Measure and log the requests of this application."""

    @app.before_request
    def begin() -> None:
        given = request.headers.get("X-Request-ID", "")
        g.request_id = given if _REQUEST_ID.fullmatch(given) else uuid.uuid4().hex
        g.began = time.perf_counter()

    @app.after_request
    def end(response: Response) -> Response:
        seconds = time.perf_counter() - g.began
        route = request.url_rule.rule if request.url_rule else "none"
        method = request.method if request.method in _METHODS else "other"
        _SECONDS.labels(method, route, response.status_code).observe(seconds)
        if route.startswith("/v1"):
            _log.info(
                "request",
                extra={
                    "request_id": g.request_id,
                    "caller": g.get("caller"),
                    "method": request.method,
                    "path": request.path,
                    "status": response.status_code,
                    "ms": round(seconds * 1000, 1),
                },
            )
        response.headers["X-Request-ID"] = g.request_id
        return response
