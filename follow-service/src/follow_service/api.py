"""HTTP to domain and back. Nothing is published here: the table's stream is the outbox."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from flask import Blueprint, jsonify, request, url_for
from flask.typing import ResponseReturnValue
from pydantic import BaseModel, ConfigDict

from follow_service import follows
from follow_service.auth import KeysAwayError, UnauthorizedError, caller
from follow_service.follows import Edge, Page, Store
from follow_service.problems import read_body, read_limit

STATUSES = {
    follows.BadCursorError: (400, {}),
    UnauthorizedError: (401, {"WWW-Authenticate": 'Bearer error="invalid_token"'}),
    follows.UnknownUserError: (404, {}),
    follows.BadNameError: (422, {}),
    follows.SelfFollowError: (422, {}),
    follows.StoreAwayError: (503, {"Retry-After": "1"}),
    KeysAwayError: (503, {"Retry-After": "1"}),
}


class NewProfile(BaseModel):
    """The body of PUT /v1/users/me."""

    model_config = ConfigDict(extra="forbid", strict=True)
    display_name: str


def blueprint(store: Store, authenticate: Callable[[], None], now: Callable[[], int]) -> Blueprint:
    """Routes over one store."""
    bp = Blueprint("follows", __name__, url_prefix="/v1/users")
    bp.before_request(authenticate)

    @bp.put("/me")
    def put_me() -> ResponseReturnValue:
        """Create the caller's profile, or rename it."""
        profile, created = follows.rename(store, caller(), read_body(NewProfile).display_name, now())
        return jsonify(asdict(profile)), 201 if created else 200

    @bp.get("/<user_id>")
    def get_user(user_id: str) -> ResponseReturnValue:
        """Show a profile with its counts, which lag behind the follows by about a second."""
        return jsonify(asdict(follows.known(store, user_id)))

    @bp.post("/<user_id>/follow")
    def follow(user_id: str) -> ResponseReturnValue:
        """Follow someone. Safe to repeat."""
        follows.follow(store, Edge(caller(), user_id), now())
        return "", 204

    @bp.delete("/<user_id>/follow")
    def unfollow(user_id: str) -> ResponseReturnValue:
        """Stop following someone. Safe to repeat, whether or not they exist."""
        follows.unfollow(store, Edge(caller(), user_id))
        return "", 204

    @bp.get("/<user_id>/followers")
    def followers(user_id: str) -> ResponseReturnValue:
        """List who follows this user, newest first."""
        follows.known(store, user_id)
        return _page(store.followers(user_id, read_limit(50, 200), request.args.get("cursor")))

    @bp.get("/<user_id>/following")
    def following(user_id: str) -> ResponseReturnValue:
        """List whom this user follows, newest first."""
        follows.known(store, user_id)
        return _page(store.following(user_id, read_limit(50, 200), request.args.get("cursor")))

    return bp


def _page(page: Page) -> ResponseReturnValue:
    response = jsonify(asdict(page))
    if page.next_cursor:
        following_page: dict[str, Any] = {**(request.view_args or {}), **request.args, "cursor": page.next_cursor}
        response.headers["Link"] = f'<{url_for(request.endpoint or "", **following_page)}>; rel="next"'
    return response
