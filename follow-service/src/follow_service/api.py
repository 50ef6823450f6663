"""HTTP to domain and back. Nothing is published here: the tables' streams are the outbox."""

from collections.abc import Callable

from flask import Blueprint

from contracts.ids import PATTERNS
from contracts.profiles import DeletedAccountError, NoProfileError
from follow_service import blocks, follows, people, profiles
from follow_service.block_api import add_blocks
from follow_service.follow_api import add_follows
from follow_service.graph import Graph
from follow_service.kept_pages import KeptPages
from follow_service.list_api import add_lists
from follow_service.profile_api import add_profiles
from follow_service.suggestion_api import add_suggestions
from follow_service.suggestion_lists import SuggestionLists
from murmuration_edge import texts
from murmuration_edge.operations import Operations
from murmuration_edge.problems import Problem, Problems

PROBLEMS: Problems = {
    people.BlockingError: Problem(403, "blocking"),
    follows.FollowingFullError: Problem(403, "following-full"),
    DeletedAccountError: Problem(403, "account-deleted"),
    NoProfileError: Problem(403, "no-profile"),
    people.PrivateAccountError: Problem(403, "private-account"),
    follows.UnknownRequestError: Problem(404, "no-request"),
    profiles.UnknownUserError: Problem(404, "no-user"),
    follows.FollowBlockedError: Problem(409, "blocking"),
    follows.FollowerFullError: Problem(409, "follower-full"),
    blocks.OneselfError: Problem(422, "oneself"),
    follows.SelfFollowError: Problem(422, "self-follow"),
    texts.UnfitTextError: Problem(422, "bad-name"),
}


def operations(
    graph: Graph, suggested: SuggestionLists, pages: KeptPages, now: Callable[[], int], cap: int
) -> Operations:
    """Declare the routes over one graph, and lists of suggestions."""
    api = Operations(Blueprint("follows", __name__, url_prefix="/v1"), PATTERNS)
    add_profiles(api, graph, now)
    add_follows(api, graph, now, cap)
    add_blocks(api, graph, now)
    add_lists(api, graph, now)
    add_suggestions(api, graph, suggested, pages, now)
    return api
