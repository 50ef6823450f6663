"""HTTP to domain and back. This service only reads."""

import json

from flask import Blueprint, Response, jsonify, request
from flask.typing import ResponseReturnValue

from murmuration_edge.auth import caller
from murmuration_edge.paging import link_next, read_limit
from murmuration_edge.problems import Statuses
from murmuration_timelines.merge import TOP
from timeline_service.cursors import read_cursor
from timeline_service.page import Pages
from timeline_service.rebuild_slots import BusyError
from timeline_service.since_mark import NOTHING, read_mark

MOST_COUNTED = 100
STATUSES: Statuses = {BusyError: 503}
PAGE = '{"tweets":[%(tweets)s],"next_cursor":%(next_cursor)s,"newest":%(newest)s}'  # tweets are JSON already


def blueprint(pages: Pages) -> Blueprint:
    """Routes over the caller's own timeline; there is no way to ask for another's."""
    bp = Blueprint("timeline", __name__, url_prefix="/v1")

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
        body = PAGE % {
            "tweets": ",".join(tweet.shown for tweet in page.tweets),
            "next_cursor": json.dumps(page.next_cursor),
            "newest": json.dumps(page.newest),
        }
        return link_next(Response(body, content_type="application/json"), page.next_cursor)

    @bp.get("/timeline/count")
    def count() -> ResponseReturnValue:
        """Count what is new, up to a hundred."""
        page = pages.home(caller(), MOST_COUNTED, since=read_mark(request.args.get("since", "")))
        return jsonify(count=len(page.tweets), more=page.next_cursor is not None)

    return bp
