"""Lists in pages: how long a page may be, and where the next one is."""

from urllib.parse import quote, urlencode

from flask import Response, request
from werkzeug.exceptions import BadRequest

MOST_DIGITS = 9


def read_limit(default: int, most: int) -> int:
    """Read the query's limit."""
    text = request.args.get("limit")
    if text is None:
        return default
    if text.isdecimal() and len(text) <= MOST_DIGITS and 1 <= int(text) <= most:
        return int(text)
    raise BadRequest(f"limit: Send a whole number from 1 to {most}, not {text!r}.")


def link_next(response: Response, cursor: str | None) -> Response:
    """Add the Link header that leads to the next page, if there is one."""
    if cursor:
        query = urlencode(request.args.to_dict() | {"cursor": cursor})
        response.headers["Link"] = f'<{quote(request.path)}?{query}>; rel="next"'
    return response
