"""HTTP to domain and back. Nothing is published here: the table's stream is the outbox."""

from collections.abc import Callable
from dataclasses import asdict

from flask import Blueprint, jsonify, request
from flask.typing import ResponseReturnValue

from follow_service import follows, profiles
from follow_service.follows import Edge, Outcome, Page, Store
from murmuration_edge.auth import caller
from murmuration_edge.bodies import Body, read_body
from murmuration_edge.paging import link_next, read_limit
from murmuration_edge.problems import Statuses

STATUSES: Statuses = {
    follows.FollowingFullError: 403,
    profiles.DeletedAccountError: 403,
    follows.UnknownRequestError: 404,
    profiles.UnknownUserError: 404,
    follows.FollowerFullError: 409,
    follows.SelfFollowError: 422,
    profiles.BadNameError: 422,
}


class NewProfile(Body):
    """The body of PUT /v1/users/me; privacy that is left out stays as it is."""

    display_name: str
    is_private: bool = False

    @property
    def privacy_if_sent(self) -> bool | None:
        """Return what was sent; None if it was left out."""
        return self.is_private if "is_private" in self.model_fields_set else None


def blueprint(store: Store, now: Callable[[], int], cap: int) -> Blueprint:
    """Routes over one store."""
    bp = Blueprint("follows", __name__, url_prefix="/v1/users")

    @bp.put("/me")
    def put_me() -> ResponseReturnValue:
        """Create the caller's profile, or change it."""
        body = read_body(NewProfile)
        profile, created = profiles.save(store, caller(), body.display_name, body.privacy_if_sent, now())
        return jsonify(asdict(profile)), 201 if created else 200

    @bp.delete("/me")
    def delete_me() -> ResponseReturnValue:
        """Delete the caller's account, for good. Safe to repeat."""
        store.delete_account(caller(), now())
        return "", 204

    @bp.get("/<user_id>")
    def get_user(user_id: str) -> ResponseReturnValue:
        """Show a profile with its counts, which lag behind the follows by about a second."""
        return jsonify(asdict(profiles.known(store, user_id)))

    @bp.post("/<user_id>/follow")
    def follow(user_id: str) -> ResponseReturnValue:
        """Follow someone, or ask to. Safe to repeat."""
        outcome = follows.follow(store, Edge(caller(), user_id), now(), cap)
        return "", 202 if outcome is Outcome.REQUESTED else 204

    @bp.delete("/<user_id>/follow")
    def unfollow(user_id: str) -> ResponseReturnValue:
        """Stop following someone, or asking to. Safe to repeat, whether or not they exist."""
        follows.unfollow(store, Edge(caller(), user_id))
        return "", 204

    @bp.get("/<user_id>/followers")
    def followers(user_id: str) -> ResponseReturnValue:
        """List who follows this user, newest first."""
        profiles.known(store, user_id)
        return _page(store.followers(user_id, read_limit(50, 200), request.args.get("cursor")))

    @bp.get("/<user_id>/following")
    def following(user_id: str) -> ResponseReturnValue:
        """List whom this user follows, newest first."""
        profiles.known(store, user_id)
        return _page(store.following(user_id, read_limit(50, 200), request.args.get("cursor")))

    _add_requests(bp, store, now, cap)
    return bp


def _add_requests(bp: Blueprint, store: Store, now: Callable[[], int], cap: int) -> None:
    """Add what a private account does with those who ask to follow it."""

    @bp.get("/me/follow-requests")
    def requests() -> ResponseReturnValue:
        """List who asks to follow the caller, newest first."""
        return _page(store.requests(caller(), read_limit(50, 200), request.args.get("cursor")))

    @bp.post("/me/follow-requests/<follower_id>")
    def accept(follower_id: str) -> ResponseReturnValue:
        """Let someone follow the caller who asked to. Safe to repeat."""
        follows.accept(store, Edge(follower_id, caller()), now(), cap)
        return "", 204

    @bp.delete("/me/follow-requests/<follower_id>")
    def decline(follower_id: str) -> ResponseReturnValue:
        """Drop someone's request. Safe to repeat."""
        follows.decline(store, Edge(follower_id, caller()))
        return "", 204


def _page(page: Page) -> ResponseReturnValue:
    return link_next(jsonify(asdict(page)), page.next_cursor)
