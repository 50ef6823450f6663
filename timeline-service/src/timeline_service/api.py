"""HTTP to domain and back. This service only reads."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from flask import Blueprint, jsonify, request, url_for
from flask.typing import ResponseReturnValue

from timeline_service.auth import KeysAwayError, UnauthorizedError, caller
from timeline_service.problems import read_limit
from timeline_service.reading import Reading
from timeline_service.timeline import TOP, BadCursorError, StoreAwayError, read_cursor

STATUSES = {
    BadCursorError: (400, {}),
    UnauthorizedError: (401, {"WWW-Authenticate": 'Bearer error="invalid_token"'}),
    StoreAwayError: (503, {"Retry-After": "1"}),
    KeysAwayError: (503, {"Retry-After": "1"}),
}


def blueprint(reading: Reading, authenticate: Callable[[], None]) -> Blueprint:
    """Routes over the caller's own timeline; there is no way to ask for another's."""
    bp = Blueprint("timeline", __name__, url_prefix="/v1")
    bp.before_request(authenticate)

    @bp.get("/timeline")
    def timeline() -> ResponseReturnValue:
        """Show what the caller and those they follow said, newest first."""
        cursor = request.args.get("cursor")
        page = reading.home(caller(), read_limit(20, 200), read_cursor(cursor) if cursor else TOP)
        response = jsonify(asdict(page))
        if page.next_cursor:
            following_page: dict[str, Any] = {**request.args, "cursor": page.next_cursor}
            response.headers["Link"] = f'<{url_for(".timeline", **following_page)}>; rel="next"'
        return response

    return bp
