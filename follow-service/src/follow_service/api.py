"""HTTP to domain and back. Nothing is published here: the table's stream is the outbox."""

from collections.abc import Callable
from dataclasses import asdict

from flask import Blueprint, jsonify
from flask.typing import ResponseReturnValue

from contracts.ids import PATTERNS
from contracts.profiles import DeletedAccountError, NoProfileError, Profile
from follow_service import follows, profiles
from follow_service.follows import Edge, Follows, Outcome, Requests, Store
from follow_service.models import FollowsPage, NewProfile, PageQuery, RequestsPage, Users, UsersQuery
from murmuration_edge import texts
from murmuration_edge.auth import caller
from murmuration_edge.caching import NOT_CHANGED
from murmuration_edge.operations import Answer, Operations
from murmuration_edge.paging import link_next
from murmuration_edge.problems import Problem, Problems

PROBLEMS: Problems = {
    follows.FollowingFullError: Problem(403, "following-full"),
    DeletedAccountError: Problem(403, "account-deleted"),
    NoProfileError: Problem(403, "no-profile"),
    follows.UnknownRequestError: Problem(404, "no-request"),
    profiles.UnknownUserError: Problem(404, "no-user"),
    follows.FollowerFullError: Problem(409, "follower-full"),
    follows.SelfFollowError: Problem(422, "self-follow"),
    texts.UnfitTextError: Problem(422, "bad-name"),
}


def operations(store: Store, now: Callable[[], int], cap: int) -> Operations:
    """Declare the routes over one store."""
    api = Operations(Blueprint("follows", __name__, url_prefix="/v1/users"), PATTERNS)

    @api.add(
        "PUT",
        "/me",
        {200: Answer("The profile was changed", Profile), 201: Answer("The profile was created", Profile)},
        texts.UnfitTextError,
        DeletedAccountError,
        body=NewProfile,
    )
    def put_me(body: NewProfile) -> ResponseReturnValue:
        """Create the caller's profile, or change it."""
        profile, created = profiles.save(store, caller(), body.display_name, body.privacy_if_sent, now())
        return jsonify(asdict(profile)), 201 if created else 200

    @api.add("DELETE", "/me", {204: Answer("The account is deleted")})
    def delete_me() -> ResponseReturnValue:
        """Delete the caller's account, for good. Safe to repeat."""
        store.delete_account(caller(), now())
        return "", 204

    shown = {200: Answer("The profile", Profile, ["ETag"]), 304: NOT_CHANGED}

    @api.add("GET", "/me", shown, profiles.UnknownUserError)
    def get_me() -> ResponseReturnValue:
        """Show the caller's own profile, as others see it."""
        return jsonify(asdict(profiles.known(store, caller())))

    @api.add("GET", "", {200: Answer("The profiles", Users)}, query=UsersQuery, cost=5)
    def get_users(query: UsersQuery) -> ResponseReturnValue:
        """Show the profiles of up to a hundred users, in the order asked."""
        return jsonify(asdict(Users(profiles.some(store, query.id))))

    @api.add("GET", "/<user_id>", shown, profiles.UnknownUserError)
    def get_user(user_id: str) -> ResponseReturnValue:
        """Show a profile with its counts, which lag behind the follows by about a second."""
        return jsonify(asdict(profiles.known(store, user_id)))

    @api.add(
        "POST",
        "/<user_id>/follow",
        {
            202: Answer("The account is private: the caller follows it when it has accepted"),
            204: Answer("The caller follows them"),
        },
        follows.FollowingFullError,
        DeletedAccountError,
        NoProfileError,
        profiles.UnknownUserError,
        follows.SelfFollowError,
        budget="follows",
    )
    def follow(user_id: str) -> ResponseReturnValue:
        """Follow someone, or ask to. Safe to repeat."""
        outcome = follows.follow(store, Edge(caller(), user_id), now(), cap)
        return "", 202 if outcome is Outcome.REQUESTED else 204

    @api.add(
        "DELETE",
        "/<user_id>/follow",
        {204: Answer("The caller neither follows them nor asks to")},
        follows.SelfFollowError,
    )
    def unfollow(user_id: str) -> ResponseReturnValue:
        """Stop following someone, or asking to. Safe to repeat, whether or not they exist."""
        follows.unfollow(store, Edge(caller(), user_id))
        return "", 204

    page = {200: Answer("A page, newest first", FollowsPage, ["Link"])}

    @api.add("GET", "/<user_id>/followers", page, profiles.UnknownUserError, query=PageQuery, cost=2)
    def list_followers(user_id: str, query: PageQuery) -> ResponseReturnValue:
        """List who follows this user, newest first."""
        profiles.known(store, user_id)
        return _page(store, query, store.followers(user_id, query.limit, query.cursor))

    @api.add("GET", "/<user_id>/following", page, profiles.UnknownUserError, query=PageQuery, cost=2)
    def list_following(user_id: str, query: PageQuery) -> ResponseReturnValue:
        """List whom this user follows, newest first."""
        profiles.known(store, user_id)
        return _page(store, query, store.following(user_id, query.limit, query.cursor))

    _add_requests(api, store, now, cap)
    return api


def _add_requests(api: Operations, store: Store, now: Callable[[], int], cap: int) -> None:
    """Add what a private account does with those who ask to follow it."""

    @api.add(
        "GET",
        "/me/follow-requests",
        {200: Answer("A page, newest first", RequestsPage, ["Link"])},
        query=PageQuery,
        cost=2,
    )
    def list_follow_requests(query: PageQuery) -> ResponseReturnValue:
        """List who asks to follow the caller, newest first."""
        return _page(store, query, store.requests(caller(), query.limit, query.cursor))

    @api.add(
        "POST",
        "/me/follow-requests/<follower_id>",
        {204: Answer("They follow the caller")},
        DeletedAccountError,
        NoProfileError,
        follows.UnknownRequestError,
        follows.FollowerFullError,
        follows.SelfFollowError,
    )
    def accept_follow_request(follower_id: str) -> ResponseReturnValue:
        """Let someone follow the caller who asked to. Safe to repeat."""
        follows.accept(store, Edge(follower_id, caller()), now(), cap)
        return "", 204

    @api.add(
        "DELETE",
        "/me/follow-requests/<follower_id>",
        {204: Answer("There is no such request")},
        follows.SelfFollowError,
    )
    def decline_follow_request(follower_id: str) -> ResponseReturnValue:
        """Drop someone's request. Safe to repeat."""
        follows.decline(store, Edge(follower_id, caller()))
        return "", 204


def _page(store: Store, query: PageQuery, page: Follows | Requests) -> ResponseReturnValue:
    shown = asdict(page)
    if query.expand:
        shown["authors"] = [asdict(profile) for profile in profiles.some(store, (row.user_id for row in page.users))]
    return link_next(jsonify(shown), query, page.next_cursor)
