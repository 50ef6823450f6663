"""How long requests may wait: each has its deadline, and the process knows which have not ended."""

import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from flask import Flask

from murmuration_edge.settings import EdgeSettings
from murmuration_runtime import deadlines
from murmuration_runtime.requests_in_flight import RequestsInFlight

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIEnvironment


def install(app: Flask, settings: EdgeSettings) -> Callable[[], bool]:
    """Give each request its deadline; return what tells whether requests are stuck."""
    requests, answer = RequestsInFlight(), app.wsgi_app

    def within_deadline(environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        with deadlines.within(settings.request_seconds) as deadline:
            requests.begin(deadline, time.monotonic())
            try:
                return answer(environ, start_response)
            finally:
                requests.end(deadline, time.monotonic())

    app.wsgi_app = within_deadline  # type: ignore[method-assign]  # the way that Flask's documentation names
    return lambda: requests.are_stuck(time.monotonic(), settings.stuck_seconds)
