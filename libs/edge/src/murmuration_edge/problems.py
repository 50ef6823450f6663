"""Every error a client sees, as RFC 9457 problem details.

Rule: a client learns what was wrong with its request, or when to try again; why the service cannot answer is logged.
"""

import json
import logging
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from flask import Flask, Response, g
from pydantic import ValidationError
from werkzeug.exceptions import HTTPException

from murmuration_edge.auth import KeysAwayError, UnauthorizedError
from murmuration_edge.cursors import BadCursorError
from murmuration_runtime.errors import StoreAwayError
from murmuration_runtime.logs import request_id

Statuses = Mapping[type[Exception], int]
USUAL: Statuses = {BadCursorError: 400, UnauthorizedError: 401, KeysAwayError: 503, StoreAwayError: 503}
CHALLENGE = {"WWW-Authenticate": 'Bearer error="invalid_token"'}
RETRY_AFTER_SECONDS = 1  # unless the error has another retry_after_seconds
_log = logging.getLogger(__name__)


def install(app: Flask, statuses: Statuses) -> None:
    """Turn these exceptions, the usual ones, and Flask's own into problems; any other is logged, and a bare 500."""
    known = {**USUAL, **statuses}

    def named(error: Exception) -> Response:
        status = next(known[cls] for cls in type(error).__mro__ if cls in known)
        if status == HTTPStatus.SERVICE_UNAVAILABLE:
            g.reason = str(error)
            seconds = str(getattr(error, "retry_after_seconds", RETRY_AFTER_SECONDS))
            detail = f"The service cannot do this now. Try again in {seconds} s."
            return _problem(status, detail, {"Retry-After": seconds})
        return _problem(status, str(error), CHALLENGE if status == HTTPStatus.UNAUTHORIZED else {})

    def http(error: HTTPException) -> Response:
        keep = {name: value for name, value in error.get_headers() if name in ("Allow", "Retry-After")}
        return _problem(error.code or 500, error.description or "", keep)

    def invalid(error: ValidationError) -> Response:
        errors = [
            {"field": ".".join(map(str, item["loc"])) or "body", "detail": item["msg"]}
            for item in error.errors(include_url=False, include_input=False, include_context=False)
        ]
        return _problem(400, "; ".join(f"{item['field']}: {item['detail']}" for item in errors), errors=errors)

    def unforeseen(error: Exception) -> Response:
        _log.error("unforeseen error", exc_info=error)
        g.reason = repr(error)
        return _problem(500, "The service failed. Try again later; if it fails again, report the request_id.")

    for cls in known:
        app.register_error_handler(cls, named)
    app.register_error_handler(HTTPException, http)
    app.register_error_handler(ValidationError, invalid)
    app.register_error_handler(Exception, unforeseen)


def _problem(status: int, detail: str, headers: Mapping[str, str] | None = None, **more: Any) -> Response:
    body = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
        "request_id": request_id.get(),
        **more,
    }
    return Response(json.dumps(body), status, headers, content_type="application/problem+json")
