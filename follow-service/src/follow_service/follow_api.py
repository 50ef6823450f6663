"""Follows over HTTP, and what a private account does with those who ask to follow it."""

from collections.abc import Callable

from flask.typing import ResponseReturnValue

from contracts.profiles import DeletedAccountError, NoProfileError
from follow_service import follows, profiles
from follow_service.follows import Edge, Outcome
from follow_service.graph import Graph
from murmuration_edge.auth import caller
from murmuration_edge.operations import Answer, Operations


def add_follows(api: Operations, graph: Graph, now: Callable[[], int], cap: int) -> None:
    """Add what one person does about following another."""

    @api.add(
        "POST",
        "/users/<user_id>/follow",
        {
            202: Answer("The account is private: the caller follows it when it has accepted"),
            204: Answer("The caller follows them"),
        },
        follows.FollowingFullError,
        DeletedAccountError,
        NoProfileError,
        profiles.UnknownUserError,
        follows.FollowBlockedError,
        follows.SelfFollowError,
        budget="follows",
    )
    def follow(user_id: str) -> ResponseReturnValue:
        """Follow someone, or ask to. Safe to repeat."""
        outcome = follows.follow(graph.follows, Edge(caller(), user_id), now(), cap)
        return "", 202 if outcome is Outcome.REQUESTED else 204

    @api.add(
        "DELETE",
        "/users/<user_id>/follow",
        {204: Answer("The caller neither follows them nor asks to")},
        follows.SelfFollowError,
    )
    def unfollow(user_id: str) -> ResponseReturnValue:
        """Stop following someone, or asking to. Safe to repeat, whether or not they exist."""
        follows.unfollow(graph.follows, Edge(caller(), user_id))
        return "", 204

    @api.add(
        "DELETE",
        "/users/me/followers/<follower_id>",
        {204: Answer("They do not follow the caller")},
        follows.SelfFollowError,
    )
    def remove_follower(follower_id: str) -> ResponseReturnValue:
        """Have someone no longer follow the caller. Safe to repeat, whether or not they exist."""
        follows.remove_follower(graph.follows, Edge(follower_id, caller()))
        return "", 204

    @api.add(
        "POST",
        "/users/me/follow-requests/<follower_id>",
        {204: Answer("They follow the caller")},
        DeletedAccountError,
        NoProfileError,
        follows.UnknownRequestError,
        follows.FollowerFullError,
        follows.SelfFollowError,
    )
    def accept_follow_request(follower_id: str) -> ResponseReturnValue:
        """Let someone follow the caller who asked to. Safe to repeat."""
        follows.accept(graph.follows, Edge(follower_id, caller()), now(), cap)
        return "", 204

    @api.add(
        "DELETE",
        "/users/me/follow-requests/<follower_id>",
        {204: Answer("There is no such request")},
        follows.SelfFollowError,
    )
    def decline_follow_request(follower_id: str) -> ResponseReturnValue:
        """Drop someone's request. Safe to repeat."""
        follows.decline(graph.follows, Edge(follower_id, caller()))
        return "", 204
