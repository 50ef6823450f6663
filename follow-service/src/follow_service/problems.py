"""Every error a client sees, as RFC 9457 problem details."""

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, TypeVar

from flask import Flask, Response, g, request
from pydantic import BaseModel, ValidationError
from werkzeug.exceptions import BadRequest, HTTPException, UnsupportedMediaType

Model = TypeVar("Model", bound=BaseModel)


def problem(status: int, detail: str, *, headers: Mapping[str, str] | None = None, **more: Any) -> Response:
    """Answer with a problem; the request id lets whoever reads it find it in the logs."""
    body = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
        "request_id": g.get("request_id"),
        **more,
    }
    return Response(json.dumps(body), status, headers, content_type="application/problem+json")


def install(app: Flask, statuses: Mapping[type[Exception], tuple[int, Mapping[str, str]]]) -> None:
    """Turn these exceptions, and Flask's own, into problems; what nobody foresaw is logged, and a bare 500."""

    def named(error: Exception) -> Response:
        status, headers = next(statuses[cls] for cls in type(error).__mro__ if cls in statuses)
        if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            app.logger.warning("refused for now", extra={"request_id": g.get("request_id"), "reason": str(error)})
        return problem(status, str(error), headers=headers)

    def http(error: HTTPException) -> Response:
        keep = {name: value for name, value in error.get_headers() if name in ("Allow", "Retry-After")}
        return problem(error.code or 500, error.description or "", headers=keep)

    def invalid(error: ValidationError) -> Response:
        errors = [
            {"field": ".".join(map(str, item["loc"])) or "body", "detail": item["msg"]}
            for item in error.errors(include_url=False, include_input=False, include_context=False)
        ]
        return problem(400, "; ".join(f"{item['field']}: {item['detail']}" for item in errors), errors=errors)

    def unforeseen(error: Exception) -> Response:
        app.logger.error("unforeseen error", exc_info=error)
        return problem(500, "this is our mistake; the request_id helps us find it")

    for cls in statuses:
        app.register_error_handler(cls, named)
    app.register_error_handler(HTTPException, http)
    app.register_error_handler(ValidationError, invalid)
    app.register_error_handler(Exception, unforeseen)


def read_body(model: type[Model]) -> Model:
    """Read the JSON body strictly: no unknown field, no other type."""
    if not request.is_json:
        raise UnsupportedMediaType("send JSON, with the header Content-Type: application/json")
    return model.model_validate_json(request.get_data())


def read_limit(default: int, most: int) -> int:
    """Read the query's limit."""
    text = request.args.get("limit", str(default))
    if not text.isdecimal() or not 1 <= int(text) <= most:
        raise BadRequest(f"limit must be a whole number from 1 to {most}, not {text!r}")
    return int(text)
