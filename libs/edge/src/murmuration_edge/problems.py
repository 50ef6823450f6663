"""Every error a client sees, as RFC 9457 problem details.

Rule: a client learns what was wrong with its request, or when to try again; why the service cannot answer is logged.
Each kind of problem has a code that never changes, and a heading of that name in docs/problems.md.
"""

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from flask import Flask, Response, g
from werkzeug.exceptions import HTTPException

from murmuration_edge.auth import KeysAwayError, UnauthorizedError
from murmuration_edge.bodies import BadBodyError
from murmuration_edge.cursors import BadCursorError
from murmuration_edge.limits import TooManyCallsError
from murmuration_edge.queries import BadQueryError
from murmuration_runtime.errors import StoreAwayError
from murmuration_runtime.logs import request_id


@dataclass(frozen=True)
class Problem:
    """One kind of problem: the status that it is answered with, and its code."""

    status: int
    code: str


Problems = Mapping[type[Exception], Problem]
UNAVAILABLE = Problem(503, "unavailable")
FAILED = Problem(500, "failed")
TOO_MANY = Problem(429, "too-many-requests")
EVERYWHERE: Problems = {
    UnauthorizedError: Problem(401, "unauthorized"),
    TooManyCallsError: TOO_MANY,
    KeysAwayError: UNAVAILABLE,
    StoreAwayError: UNAVAILABLE,
}
WITH_QUERY: Problems = {BadQueryError: Problem(400, "bad-query")}
WITH_CURSOR: Problems = {BadCursorError: Problem(400, "bad-cursor")}  # of a query that has one of queries.SENT_BACK
WITH_BODY: Problems = {BadBodyError: Problem(400, "bad-body")}
HTTP: Mapping[int, Problem] = {  # what Flask itself refuses
    each.status: each
    for each in (
        Problem(400, "bad-request"),
        Problem(404, "no-route"),
        Problem(405, "method-not-allowed"),
        Problem(413, "body-too-large"),
        Problem(415, "body-not-json"),
        TOO_MANY,
        FAILED,
    )
}
FAILURE = "The service failed. Try again later; if it fails again, report the request_id."
_DETAILS = {  # what a client is told of them: Flask's own words are for somebody at a browser
    400: "HTTP does not allow this request.",
    404: "No route has this path.",
    405: "This path does not have this method; Allow names those that it has.",
    413: "A body may have at most 64 KiB.",
    415: "Send JSON, with the header Content-Type: application/json.",
    429: "Too many requests. Try again later.",
    500: FAILURE,
}
RETRY_AFTER_SECONDS = 1  # unless the error has another retry_after_seconds
_log = logging.getLogger(__name__)


def install(app: Flask, problems: Problems) -> None:
    """Answer these exceptions, the usual ones, and Flask's own as problems; any other is logged, and a bare 500."""
    known = {**EVERYWHERE, **WITH_QUERY, **WITH_CURSOR, **WITH_BODY, **problems}

    def named(error: Exception) -> Response:
        problem = next(known[cls] for cls in type(error).__mro__ if cls in known)
        if problem.status == HTTPStatus.SERVICE_UNAVAILABLE:
            g.reason = str(error)
            seconds = str(getattr(error, "retry_after_seconds", RETRY_AFTER_SECONDS))
            detail = f"The service cannot do this now. Try again in {seconds} s."
            return answer(problem, detail, {"Retry-After": seconds})
        headers = getattr(error, "headers", {})
        errors = getattr(error, "errors", None)
        return answer(problem, str(error), headers, **({"errors": errors} if errors else {}))

    def http(error: HTTPException) -> Response:
        keep = {name: value for name, value in error.get_headers() if name in ("Allow", "Retry-After")}
        status = error.code or 500
        problem = HTTP.get(status, Problem(status, "refused"))
        return answer(problem, _DETAILS.get(status, error.description or ""), keep)

    def unforeseen(error: Exception) -> Response:
        _log.error("unforeseen error", exc_info=error)
        g.reason = repr(error)
        return answer(FAILED, FAILURE)

    for cls in known:
        app.register_error_handler(cls, named)
    app.register_error_handler(HTTPException, http)
    app.register_error_handler(Exception, unforeseen)


def answer(problem: Problem, detail: str, headers: Mapping[str, str] | None = None, **more: Any) -> Response:
    """Answer with a problem."""
    body = {
        "type": f"/problems/{problem.code}",
        "code": problem.code,
        "title": problem.code.replace("-", " ").capitalize(),
        "status": problem.status,
        "detail": detail,
        "request_id": request_id.get(),
        **more,
    }
    return Response(json.dumps(body), problem.status, headers, content_type="application/problem+json")
