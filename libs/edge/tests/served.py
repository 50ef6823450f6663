"""A service as small as can be; gunicorn serves it in test_gunicorn.py, Flask's client asks it in the other tests."""

import time
from collections.abc import Callable
from functools import partial
from typing import Any

from flask import Blueprint, Flask, jsonify, request

from murmuration_edge.app import edge_app
from murmuration_edge.auth import Keys, caller
from murmuration_edge.bodies import Body, read_body
from murmuration_edge.paging import link_next, read_limit
from murmuration_edge.settings import EdgeSettings
from murmuration_runtime import dynamo
from murmuration_runtime.readiness import Readiness
from murmuration_runtime.settings import read


class TeapotError(Exception):
    """What this service cannot do."""


class CrowdedError(Exception):
    """There are too many here."""

    retry_after_seconds = 7


class Thing(Body):
    """What one can make."""

    name: str
    count: int = 1


def create_app(
    settings: EdgeSettings | None = None, keys: Keys | None = None, ask: Callable[[], object] = time.time
) -> Flask:
    """Build it; ask is what each request needs of a store."""
    settings = settings or read(EdgeSettings)
    routes = Blueprint("things", __name__, url_prefix="/v1")

    @routes.get("/things/<name>")
    def get(name: str) -> Any:
        ask()
        if name == "teapot":
            raise TeapotError("This is a teapot.")
        return jsonify(caller=caller(), name=name)

    @routes.get("/things")
    def things() -> Any:
        first, limit = int(request.args.get("cursor", "0")), read_limit(2, 3)
        page = list(range(5))[first : first + limit]
        return link_next(jsonify(page), str(first + limit) if first + limit < 5 else None)

    @routes.put("/things")
    def put() -> Any:
        return jsonify(read_body(Thing).model_dump())

    readiness = Readiness("dynamodb")

    def check() -> None:
        with dynamo.errors_named():
            dynamodb.list_tables()

    dynamodb = dynamo.client()
    return edge_app(
        "murmuration-edge",
        settings,
        routes,
        {TeapotError: 418, CrowdedError: 503},
        readiness,
        contracts={"topics": "", "tables": ""},
        is_user_id=str.isalnum,
        keys=keys,
        at_start=[partial(readiness.keep_looking, {"dynamodb": check})],
    )
