"""gRPC to rules and back: the methods of proto/murmuration/graph/v1/graph.proto.

Rule: a method answers what the HTTP route beside it in ROUTES answers, and costs as many tokens of the same budget.
"""

from typing import Any, TypeVar

from pydantic import Field, ValidationError

from follow_service import lists, people
from follow_service.following import following
from follow_service.graph import Graph
from follow_service.graph_pb2 import (
    FollowersPage,
    GetCountsRequest,
    GetCountsResponse,
    IsFollowingRequest,
    IsFollowingResponse,
    ListFollowersRequest,
)
from follow_service.lists import Listed
from murmuration_edge.queries import BadQueryError, Limit, Page, Query

LARGEST_PAGE = 200
COSTS = {"IsFollowing": 5, "GetCounts": 5, "ListFollowers": 2}
COST_OF_CURSOR = 2  # of a page further down
ROUTES = {"IsFollowing": "get_relationships", "GetCounts": "get_users", "ListFollowers": "list_followers"}


class _Users(Query):
    user_ids: list[str] = Field(min_length=1, max_length=100)


class _List(Page):
    page_size: Limit


Read = TypeVar("Read", bound=Query)


def is_following(graph: Graph, caller_id: str, request: IsFollowingRequest) -> IsFollowingResponse:
    """Tell whom of these the caller follows."""
    asked = _read(_Users, user_ids=[*request.user_ids])
    found = following(graph, caller_id, asked.user_ids)
    answers = [IsFollowingResponse.Answer(user_id=each, following=is_so) for each, is_so in found.items()]
    return IsFollowingResponse(answers=answers)


def get_counts(graph: Graph, caller_id: str, request: GetCountsRequest) -> GetCountsResponse:
    """Tell the counts of those who are somebody to the caller."""
    asked = _read(_Users, user_ids=[*request.user_ids])
    profiles = [seen.profile for seen in people.some(graph.people, caller_id, asked.user_ids)]
    counts = [
        GetCountsResponse.Counts(user_id=it.user_id, followers=it.followers_count, following=it.following_count)
        for it in profiles
    ]
    return GetCountsResponse(counts=counts)


def followers_page(graph: Graph, caller_id: str, request: ListFollowersRequest) -> FollowersPage:
    """Give the page after the request's cursor, if the list is open to the caller now."""
    cursor = request.cursor or None
    asked = _read(_List, page_size=request.page_size or LARGEST_PAGE, cursor=cursor)
    people.check_open(graph.people, caller_id, request.user_id)
    of_whom = Listed.FOLLOWERS, request.user_id, caller_id
    page, rest = lists.page(graph.lists, graph.people, *of_whom, asked.page_size, asked.cursor)
    followers = [FollowersPage.Follower(user_id=row.user_id, followed_at=row.at) for row in page.rows]
    return FollowersPage(followers=followers, next_cursor=rest or "")


def _read(model: type[Read], **sent: Any) -> Read:
    try:
        return model.model_validate(sent)
    except ValidationError as error:
        raise BadQueryError(error) from None
