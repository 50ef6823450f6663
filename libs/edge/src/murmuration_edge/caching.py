"""What may be kept of an answer, and by whom.

Rule: nobody keeps an answer. The exceptions are those of an operation that declares 304: the caller may keep them, and
asks each time whether they are still so, by their ETag.
"""

from hashlib import blake2b
from http import HTTPStatus

from flask import Flask, Response, request

from murmuration_edge.operations import Answer, Operations

NOT_CHANGED = Answer("Not changed since the ETag in If-None-Match", headers=["ETag"])
KEPT_BY_NOBODY = "private, no-store"
ASKED_EACH_TIME = "private, no-cache"


def install(app: Flask, operations: Operations) -> None:
    """Say of each answer who may keep it, and that it is what its Content-Type says."""
    tagged = {
        name for name, operation in operations.by_endpoint.items() if HTTPStatus.NOT_MODIFIED in operation.answers
    }

    @app.after_request
    def mark(response: Response) -> Response:
        response.headers["X-Content-Type-Options"] = "nosniff"
        shown = request.method in ("GET", "HEAD") and response.status_code == HTTPStatus.OK
        if shown and request.endpoint in tagged:
            response.headers["Cache-Control"] = ASKED_EACH_TIME
            response.headers["Vary"] = "Authorization"
            response.set_etag(blake2b(response.get_data(), digest_size=12).hexdigest())
            if request.if_none_match.contains_weak(response.get_etag()[0] or ""):
                response.status_code = HTTPStatus.NOT_MODIFIED
                response.set_data(b"")
                del response.headers["Content-Type"], response.headers["Content-Length"]
        else:
            response.headers["Cache-Control"] = KEPT_BY_NOBODY
        return response
