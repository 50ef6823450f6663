"""Suggestions over HTTP: the caller's own, and nobody else's."""

import json
from collections.abc import Callable, Collection, Iterable
from functools import partial
from typing import Any

from flask import Response, current_app
from flask.typing import ResponseReturnValue

from contracts.profiles import DeletedAccountError, NoProfileError
from follow_service import metrics, people, suggestions
from follow_service.graph import Graph
from follow_service.kept_pages import Answered, Asked, KeptPages
from follow_service.models import SuggestionsPage, SuggestionsQuery
from follow_service.people import Seen
from follow_service.profile_api import shown
from follow_service.suggestion_lists import SuggestionLists
from follow_service.suggestions import Shown
from murmuration_edge.auth import caller
from murmuration_edge.operations import Answer, Operations
from murmuration_edge.paging import link_next
from murmuration_runtime.errors import StoreAwayError
from murmuration_suggested.layout import ONLINE

FROM = "Suggestions-From"


def add_suggestions(
    api: Operations, graph: Graph, lists: SuggestionLists, pages: KeptPages, now: Callable[[], int]
) -> None:
    """Add whom the caller may like to follow."""
    found = {200: Answer("A page, the best first", SuggestionsPage, ["Link", FROM])}

    def look(query: SuggestionsQuery) -> Answered:
        """Look a page up in the tables."""
        name, begin = suggestions.from_cursor(query.cursor)
        listed = lists.find(caller(), name)
        page = suggestions.page(graph.suggestible, caller(), listed, query.limit, begin)
        rest, there = suggestions.to_cursor(listed.name, page.rest), _named(page.rows)
        body = current_app.json.dumps({"users": [_row(each) for each in page.rows], "next_cursor": rest})
        source = ONLINE if listed.name == ONLINE else "run"
        return Answered(body, rest, source, [*there], len(page.rows), [*there.values()])

    def authors(answer: Answered, expand: str) -> Iterable[Seen]:
        """Return who is suggested, then who is named as a reason, each once."""
        if expand == "viewer":
            return people.some(graph.people, caller(), answer.named, ties=True)
        return people.some(graph.others.people, caller(), answer.named) if answer.people is None else answer.people

    @api.add("GET", "/suggestions", found, query=SuggestionsQuery, cost=2)
    def list_suggestions(query: SuggestionsQuery) -> ResponseReturnValue:
        """List whom the caller may like to follow, the best first, each with whom they follow that follows them."""
        suggestions.from_cursor(query.cursor)  # a wrong one is no key of a page
        asked = Asked(lists.version(), query.cursor or "", query.limit)
        answer = pages.answer(caller(), asked, partial(look, query))
        body = answer.body
        if query.expand:
            seen = [*authors(answer, query.expand)]
            if len(seen) < len(answer.named):  # somebody left since the page was looked up
                answer = look(query)
                seen = [*authors(answer, query.expand)]
            body = current_app.json.dumps(json.loads(answer.body) | {"authors": [shown(each) for each in seen]})
        metrics.SUGGESTIONS.labels(answer.source).inc()
        response = link_next(Response(body, content_type="application/json"), query, answer.rest)
        response.headers[FROM] = answer.source
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
        try:
            is_new = suggestions.dismiss(graph.suggestible, graph.profiles, caller(), user_id, now())
        except StoreAwayError:
            pages.drop(caller())  # it may be written, and no event would tell
            raise
        if is_new:
            pages.drop(caller())
        return "", 204


def _row(each: Shown) -> dict[str, Any]:
    it = each.suggestion
    return {"user_id": it.user_id, "because": {"user_ids": it.because, "count": it.count}}


def _named(rows: Collection[Shown]) -> dict[str, Seen]:
    found = {each.suggestion.user_id: each.seen for each in rows}
    for each in rows:
        for friend in each.friends:
            found.setdefault(friend.user_id, Seen(friend, blocking=False))
    return found
