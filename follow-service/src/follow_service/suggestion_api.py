"""Suggestions over HTTP: the caller's own, and nobody else's."""

from collections.abc import Callable, Iterable
from typing import Any

from flask import jsonify
from flask.typing import ResponseReturnValue

from contracts.profiles import DeletedAccountError, NoProfileError
from follow_service import metrics, people, suggestions
from follow_service.graph import Graph
from follow_service.held_pages import HeldPages
from follow_service.models import SuggestionsPage, SuggestionsQuery
from follow_service.people import Seen
from follow_service.profile_api import shown
from follow_service.suggestion_lists import SuggestionLists
from follow_service.suggestions import Shown
from murmuration_edge.auth import caller
from murmuration_edge.operations import Answer, Operations
from murmuration_edge.paging import link_next
from murmuration_suggested.layout import ONLINE

FROM = "Suggestions-From"


def add_suggestions(
    api: Operations, graph: Graph, lists: SuggestionLists, held: HeldPages, now: Callable[[], int]
) -> None:
    """Add whom the caller may like to follow."""
    found = {200: Answer("A page, the best first", SuggestionsPage, ["Link", FROM])}

    @api.add("GET", "/suggestions", found, query=SuggestionsQuery, cost=2)
    def list_suggestions(query: SuggestionsQuery) -> ResponseReturnValue:
        """List whom the caller may like to follow, the best first, each with whom they follow that follows them."""
        name, begin = suggestions.from_cursor(query.cursor)
        listed, knows_dismissals = lists.find(caller(), name)
        asked = caller(), listed, query.limit, begin
        if knows_dismissals:
            page = held.page(*asked, named=bool(query.expand))
        else:
            page = suggestions.page(graph.suggestible, *asked, named=bool(query.expand))
        rest = suggestions.to_cursor(listed.name, page.rest)
        answer: dict[str, Any] = {"users": [_row(each) for each in page.rows], "next_cursor": rest}
        if query.expand:
            answer["authors"] = [shown(each) for each in _people(graph, page.rows, ties=query.expand == "viewer")]
        source = "online" if listed.name == ONLINE else "run"
        metrics.SUGGESTIONS.labels(source).inc()
        response = link_next(jsonify(answer), query, rest)
        response.headers[FROM] = source
        return response

    @api.add(
        "DELETE",
        "/suggestions/<user_id>",
        {204: Answer("They are not suggested to the caller any more")},
        DeletedAccountError,
        NoProfileError,
    )
    def dismiss_suggestion(user_id: str) -> ResponseReturnValue:
        """Have someone never suggested to the caller again. Safe to repeat, whether or not they exist."""
        if suggestions.dismiss(graph.suggestible, graph.profiles, caller(), user_id, now()):
            lists.dismiss(caller(), user_id)
        return "", 204


def _row(each: Shown) -> dict[str, Any]:
    it = each.suggestion
    return {"user_id": it.user_id, "because": {"user_ids": it.because, "count": it.count}}


def _people(graph: Graph, rows: Iterable[Shown], *, ties: bool) -> Iterable[Seen]:
    """Return who is suggested, then who is named as a reason, each once."""
    found = {each.suggestion.user_id: each.seen for each in rows}
    for each in rows:
        for friend in each.friends:
            found.setdefault(friend.user_id, Seen(friend, blocking=False))
    return people.some(graph.people, caller(), found, ties=True) if ties else found.values()
