"""Lists over HTTP: others' if they are open to the caller, and the caller's own."""

from collections.abc import Callable, Sequence
from typing import Any

from flask import Response, jsonify
from flask.typing import ResponseReturnValue

from follow_service import lists, mutuals, people, profiles
from follow_service.graph import Graph
from follow_service.lists import Listed
from follow_service.models import (
    BlocksPage,
    FollowsPage,
    MutesPage,
    MutualsQuery,
    PageQuery,
    PeoplePage,
    RequestsPage,
)
from follow_service.mutual_searches import Pair
from follow_service.people import Seen
from follow_service.profile_api import shown
from murmuration_edge.auth import caller
from murmuration_edge.operations import Answer, Operations
from murmuration_edge.paging import link_next

CLOSED = profiles.UnknownUserError, people.BlockingError, people.PrivateAccountError
SINCE = {
    Listed.FOLLOWERS: "followed_at",
    Listed.FOLLOWING: "followed_at",
    Listed.REQUESTS: "requested_at",
    Listed.SENT: "requested_at",
    Listed.BLOCKS: "blocked_at",
    Listed.MUTES: "muted_at",
}


def add_lists(api: Operations, graph: Graph, now: Callable[[], int]) -> None:
    """Add the lists of people."""

    def answer(listed: Listed, user_id: str, query: PageQuery) -> ResponseReturnValue:
        limits = query.limit, query.cursor
        source = graph if user_id == caller() else graph.others
        page, rest = lists.page(source.lists, source.people, listed, user_id, caller(), *limits, ties=_ties(query))
        return _answer([{"user_id": row.user_id, SINCE[listed]: row.at} for row in page.rows], page.people, query, rest)

    follows = {200: Answer("A page, newest first", FollowsPage, ["Link"])}
    requests = {200: Answer("A page, newest first", RequestsPage, ["Link"])}

    @api.add("GET", "/users/<user_id>/followers", follows, *CLOSED, query=PageQuery, cost=2)
    def list_followers(user_id: str, query: PageQuery) -> ResponseReturnValue:
        """List who follows this user, newest first."""
        people.check_open(graph.others.people, caller(), user_id)
        return answer(Listed.FOLLOWERS, user_id, query)

    @api.add("GET", "/users/<user_id>/following", follows, *CLOSED, query=PageQuery, cost=2)
    def list_following(user_id: str, query: PageQuery) -> ResponseReturnValue:
        """List whom this user follows, newest first."""
        people.check_open(graph.others.people, caller(), user_id)
        return answer(Listed.FOLLOWING, user_id, query)

    @api.add("GET", "/users/me/follow-requests", requests, query=PageQuery, cost=2)
    def list_follow_requests(query: PageQuery) -> ResponseReturnValue:
        """List who asks to follow the caller, newest first."""
        return answer(Listed.REQUESTS, caller(), query)

    @api.add("GET", "/users/me/follow-requests/sent", requests, query=PageQuery, cost=2)
    def list_sent_follow_requests(query: PageQuery) -> ResponseReturnValue:
        """List whom the caller asks to follow, newest first."""
        return answer(Listed.SENT, caller(), query)

    blocks = {200: Answer("A page, newest first", BlocksPage, ["Link"])}

    @api.add("GET", "/users/me/blocks", blocks, query=PageQuery, cost=2)
    def list_blocks(query: PageQuery) -> ResponseReturnValue:
        """List whom the caller blocks, newest first."""
        return answer(Listed.BLOCKS, caller(), query)

    mutes = {200: Answer("A page, newest first", MutesPage, ["Link"])}

    @api.add("GET", "/users/me/mutes", mutes, query=PageQuery, cost=2)
    def list_mutes(query: PageQuery) -> ResponseReturnValue:
        """List whom the caller mutes, newest first."""
        return answer(Listed.MUTES, caller(), query)

    _add_mutuals(api, graph, now)


def _add_mutuals(api: Operations, graph: Graph, now: Callable[[], int]) -> None:
    """Add who is in two lists."""

    def both(user_id: str, other_id: str, query: PageQuery) -> ResponseReturnValue:
        asked = Pair(user_id, other_id), caller(), query.limit, query.cursor, now()
        found = mutuals.page(graph.lists, graph.searches, graph.people, *asked, ties=_ties(query))
        rows = [{"user_id": row.user_id} for row in found.page.rows]
        response = _answer(rows, found.page.people, query, found.next_cursor)
        if found.age is not None:
            response.headers["Age"] = str(found.age)
        return response

    found = {200: Answer("A page", PeoplePage, ["Link", "Age"])}

    @api.add("GET", "/users/<user_id>/mutual-followers/<other_id>", found, *CLOSED, query=MutualsQuery, cost=5)
    def list_mutual_followers(user_id: str, other_id: str, query: MutualsQuery) -> ResponseReturnValue:
        """List who follows the other user among those whom the first one follows."""
        return both(user_id, other_id, query)

    @api.add("GET", "/users/<user_id>/friends", found, *CLOSED, query=MutualsQuery, cost=5)
    def list_friends(user_id: str, query: MutualsQuery) -> ResponseReturnValue:
        """List who follows this user and is followed by them."""
        return both(user_id, user_id, query)


def _ties(query: PageQuery) -> bool:
    """Say whether the caller asks how they stand to each of those shown."""
    return query.expand == "viewer"


def _answer(rows: Sequence[dict[str, Any]], seen: Sequence[Seen], query: PageQuery, rest: str | None) -> Response:
    answer: dict[str, Any] = {"users": rows, "next_cursor": rest}
    if query.expand:
        answer["authors"] = [shown(each) for each in seen]
    return link_next(jsonify(answer), query, rest)
