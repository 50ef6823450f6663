"""Profiles over HTTP, one's own and others', and how the caller stands to others."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from flask import jsonify
from flask.typing import ResponseReturnValue

from contracts.profiles import DeletedAccountError
from follow_service import people, profiles
from follow_service.graph import Graph
from follow_service.models import (
    NewProfile,
    ProfileQuery,
    Relationships,
    RelationshipsQuery,
    SeenProfile,
    Users,
    UsersQuery,
)
from follow_service.people import Seen
from follow_service.profiles import OwnProfile
from murmuration_edge import texts
from murmuration_edge.auth import caller
from murmuration_edge.caching import NOT_CHANGED
from murmuration_edge.operations import Answer, Operations


def add_profiles(api: Operations, graph: Graph, now: Callable[[], int]) -> None:
    """Add who people are."""

    @api.add(
        "PUT",
        "/users/me",
        {200: Answer("The profile was changed", OwnProfile), 201: Answer("The profile was created", OwnProfile)},
        texts.UnfitTextError,
        DeletedAccountError,
        body=NewProfile,
    )
    def put_me(body: NewProfile) -> ResponseReturnValue:
        """Create the caller's profile, or change it."""
        at = now()
        sent = body.privacy_if_sent, body.discoverable_if_sent
        profile = profiles.save(graph.profiles, caller(), body.display_name, *sent, at)
        return jsonify(asdict(profile)), 201 if profile.created_at == at else 200

    @api.add("DELETE", "/users/me", {204: Answer("The account is deleted")})
    def delete_me() -> ResponseReturnValue:
        """Delete the caller's account, for good. Safe to repeat."""
        graph.profiles.delete(caller(), now())
        return "", 204

    @api.add(
        "GET",
        "/users/me",
        {200: Answer("The profile", OwnProfile, ["ETag"]), 304: NOT_CHANGED},
        profiles.UnknownUserError,
    )
    def get_me() -> ResponseReturnValue:
        """Show the caller's own profile."""
        return jsonify(asdict(profiles.own(graph.profiles, caller())))

    @api.add("GET", "/users", {200: Answer("The profiles", Users)}, query=UsersQuery, cost=5)
    def get_users(query: UsersQuery) -> ResponseReturnValue:
        """Show the profiles of up to a hundred users, in the order asked."""
        found = people.some(graph.others.people, caller(), query.id, ties=query.expand is not None)
        return jsonify({"users": [shown(seen) for seen in found]})

    @api.add(
        "GET",
        "/users/<user_id>",
        {200: Answer("The profile", SeenProfile, ["ETag"]), 304: NOT_CHANGED},
        profiles.UnknownUserError,
        query=ProfileQuery,
    )
    def get_user(user_id: str, query: ProfileQuery) -> ResponseReturnValue:
        """Show a profile with its counts, which lag behind the follows by about a second."""
        return jsonify(shown(people.known(graph.others.people, caller(), user_id, ties=query.expand is not None)))

    @api.add(
        "GET", "/relationships", {200: Answer("Their relationships", Relationships)}, query=RelationshipsQuery, cost=5
    )
    def get_relationships(query: RelationshipsQuery) -> ResponseReturnValue:
        """Say how the caller and up to a hundred users stand to each other now, in the order asked."""
        found = people.relationships(graph.people, caller(), query.id)
        return jsonify({"relationships": [{"user_id": user_id, **asdict(ties)} for user_id, ties in found.items()]})


def shown(seen: Seen) -> dict[str, Any]:
    """Return a profile as the caller sees it."""
    profile = {**vars(seen.profile), "display": vars(seen.profile.display), "blocking": seen.blocking}
    return profile if seen.ties is None else {**profile, "viewer": vars(seen.ties)}
