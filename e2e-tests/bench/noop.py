"""Two services that do nothing, for gunicorn: one behind libs/edge, one of Flask alone."""

from flask import Blueprint, Flask, Response
from flask.typing import ResponseReturnValue

from contracts.ids import PATTERNS, is_user_id
from murmuration_edge.app import AT_START, edge_app
from murmuration_edge.operations import Answer, Operations
from murmuration_edge.settings import EdgeSettings
from murmuration_runtime.readiness import Readiness
from murmuration_runtime.settings import read

PATH = "/v1/nothing"


def bare() -> Flask:
    """Build the one of Flask alone."""
    app = Flask("bare")
    app.extensions[AT_START] = []
    app.add_url_rule(PATH, view_func=_nothing)
    return app


def edge() -> Flask:
    """Build the one whose callers need a token, as those of every edge."""
    api = Operations(Blueprint("noop", "noop", url_prefix="/v1"), PATTERNS)

    @api.add("GET", "/nothing", {200: Answer("Nothing", dict)})
    def nothing() -> ResponseReturnValue:
        """Do nothing."""
        return _nothing()

    return edge_app(
        "murmuration-edge",
        read(EdgeSettings),
        api,
        {},
        Readiness(),
        contracts={"topics": "", "tables": ""},
        is_user_id=is_user_id,
        keys=None,
        at_start=[],
    )


def _nothing() -> Response:
    return Response("{}", content_type="application/json")
