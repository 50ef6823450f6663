"""Lists in pages: where the next one is."""

from urllib.parse import quote, urlencode

from flask import Response, request

from murmuration_edge.queries import Query


def link_next(response: Response, query: Query, cursor: str | None) -> Response:
    """Add the Link header that leads to the next page, if there is one: the same query, as its model knows it."""
    if cursor:
        sent = urlencode(query.model_dump(exclude_unset=True) | {"cursor": cursor}, doseq=True)
        response.headers["Link"] = f'<{quote(request.path)}?{sent}>; rel="next"'
    return response
