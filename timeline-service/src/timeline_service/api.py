"""HTTP to domain and back. This service only reads."""

import json
from collections.abc import Callable
from urllib.parse import urlencode

from flask import Blueprint, Response, jsonify, request
from flask.typing import ResponseReturnValue

from murmuration_runtime.errors import StoreAwayError
from murmuration_timelines.merge import TOP
from timeline_service.auth import KeysAwayError, UnauthorizedError, caller
from timeline_service.cursors import BadCursorError, read_cursor
from timeline_service.page import Pages
from timeline_service.problems import read_limit
from timeline_service.rebuild_slots import BusyError
from timeline_service.since_mark import NOTHING, read_mark

MOST_COUNTED = 100
STATUSES = {
    BadCursorError: (400, {}),
    UnauthorizedError: (401, {"WWW-Authenticate": 'Bearer error="invalid_token"'}),
    BusyError: (503, {"Retry-After": "2"}),
    StoreAwayError: (503, {"Retry-After": "1"}),
    KeysAwayError: (503, {"Retry-After": "1"}),
}


def blueprint(pages: Pages, authenticate: Callable[[], None]) -> Blueprint:
    """Routes over the caller's own timeline; there is no way to ask for another's."""
    bp = Blueprint("timeline", __name__, url_prefix="/v1")
    bp.before_request(authenticate)

    @bp.get("/timeline")
    def timeline() -> ResponseReturnValue:
        """Show what the caller and those they follow said, newest first; with since, only what is new."""
        cursor, since = request.args.get("cursor"), request.args.get("since")
        page = pages.home(
            caller(),
            read_limit(20, 200),
            read_cursor(cursor) if cursor else TOP,
            read_mark(since) if since else NOTHING,
        )
        tweets = ",".join(tweet.shown for tweet in page.tweets)
        ends = f'"next_cursor":{json.dumps(page.next_cursor)},"newest":{json.dumps(page.newest)}'
        response = Response(f'{{"tweets":[{tweets}],{ends}}}', content_type="application/json")
        if page.next_cursor:
            following_page = urlencode(request.args.to_dict() | {"cursor": page.next_cursor})
            response.headers["Link"] = f'<{request.path}?{following_page}>; rel="next"'
        return response

    @bp.get("/timeline/count")
    def count() -> ResponseReturnValue:
        """Count what is new, up to a hundred."""
        page = pages.home(caller(), MOST_COUNTED, since=read_mark(request.args.get("since", "")))
        return jsonify(count=len(page.tweets), more=page.next_cursor is not None)

    return bp
