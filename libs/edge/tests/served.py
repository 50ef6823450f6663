"""A service as small as can be; gunicorn serves it in test_gunicorn.py, Flask's client asks it in the other tests."""

import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from flask import Blueprint, Flask, jsonify
from pydantic import BaseModel

from murmuration_edge.app import edge_app
from murmuration_edge.auth import Keys, caller
from murmuration_edge.bodies import Body
from murmuration_edge.caching import NOT_CHANGED
from murmuration_edge.operations import Answer, Operations
from murmuration_edge.paging import link_next
from murmuration_edge.problems import Problem
from murmuration_edge.queries import Limit, Page
from murmuration_edge.settings import EdgeSettings
from murmuration_runtime import dynamo
from murmuration_runtime.readiness import Readiness
from murmuration_runtime.settings import read


class TeapotError(Exception):
    """What this service cannot do."""


class MeltedError(Exception):
    """Why this service cannot do it any more."""


class CrowdedError(Exception):
    """There are too many here."""

    retry_after_seconds = 7


class Thing(Body):
    """What one can make."""

    name: str
    count: int = 1


class Seen(BaseModel):
    """A thing as somebody sees it."""

    caller: str
    name: str
    made_at: int


class ThingsQuery(Page):
    """Which part of all things."""

    limit: Limit = 2
    expand: str | None = None


def create_app(
    settings: EdgeSettings | None = None, keys: Keys | None = None, ask: Callable[[], object] = time.time
) -> Flask:
    """Build it; ask is what each request needs of a store."""
    settings = settings or read(EdgeSettings)
    api = Operations(Blueprint("things", __name__, url_prefix="/v1"), {"caller": "[a-z]+"})

    shown = {200: Answer("The thing", Seen, ["ETag"]), 304: NOT_CHANGED}

    @api.add("GET", "/things/<name>", shown, TeapotError, CrowdedError)
    def get(name: str) -> Any:
        """Look at a thing."""
        ask()
        if name == "teapot":
            raise TeapotError("This is a teapot.")
        return jsonify(caller=caller(), name=name, made_at=1)

    @api.add("GET", "/things", {200: Answer("A page", list[int], ["Link"])}, query=ThingsQuery)
    def things(query: ThingsQuery) -> Any:
        """List all things."""
        first = int(query.cursor or "0")
        end = first + query.limit
        return link_next(jsonify(list(range(5))[first:end]), query, str(end) if end < 5 else None)

    @api.add("PUT", "/things", {200: Answer("The thing", Thing)}, MeltedError, body=Thing)
    def put(body: Thing) -> Any:
        """Make a thing."""
        return jsonify(body.model_dump())

    readiness = Readiness("dynamodb")

    def check() -> None:
        with dynamo.errors_named():
            dynamodb.list_tables()

    def asleep() -> str:
        threading.Event().wait(60)
        return "never"

    def stored() -> str:
        check()
        return "stored"

    dynamodb = dynamo.client_for_requests()
    app = edge_app(
        "murmuration-edge",
        settings,
        api,
        {
            TeapotError: Problem(418, "teapot"),
            MeltedError: Problem(410, "teapot"),
            CrowdedError: Problem(503, "crowded"),
        },
        readiness,
        contracts={"topics": "", "tables": ""},
        is_user_id=str.isalnum,
        keys=keys,
        at_start=[partial(readiness.keep_looking, {"dynamodb": check})],
    )
    app.add_url_rule("/stored", view_func=stored)  # what needs a store
    app.add_url_rule("/asleep", view_func=asleep)  # what hangs by itself
    return app
