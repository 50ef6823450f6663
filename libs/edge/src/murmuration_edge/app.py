"""The Flask app that an edge starts from; a service's create_app adds its stores and its routes."""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.metadata import version

from flask import Flask, Response
from flask.typing import ResponseReturnValue

from murmuration_edge import caching, limits, problems, request_deadlines, telemetry
from murmuration_edge.auth import Keys, authenticate
from murmuration_edge.bodies import LARGEST_BODY
from murmuration_edge.jwks import fetch_keys
from murmuration_edge.leases import Leases
from murmuration_edge.openapi import document
from murmuration_edge.operations import Operations
from murmuration_edge.problems import Problems
from murmuration_edge.redis_buckets import connect
from murmuration_edge.settings import EdgeSettings
from murmuration_edge.signing_keys import SigningKeys
from murmuration_runtime import admin, traces
from murmuration_runtime.metrics import announce_build
from murmuration_runtime.readiness import Readiness

AT_START = "at_start"  # in app.extensions: what gunicorn's worker calls once, and nobody who only builds an app


def edge_app(
    service: str,
    settings: EdgeSettings,
    operations: Operations,
    known_problems: Problems,
    readiness: Readiness,
    *,
    contracts: Mapping[str, str],
    is_user_id: Callable[[str], bool],
    keys: Keys | None,
    at_start: Sequence[Callable[[], object]],
) -> Flask:
    """Build the app of a service: its operations are for callers with a token, and its errors are these problems.

    contracts: what build_info says that the service reads and writes.
    """
    package = service.replace("-", "_")
    app = Flask(package)
    app.config["MAX_CONTENT_LENGTH"] = LARGEST_BODY
    app.url_map.merge_slashes = False  # else two slashes are a redirect, to whatever host was asked for
    telemetry.install(app)
    if settings.traces:
        telemetry.install_spans(app)
    are_stuck = request_deadlines.install(app, settings)
    problems.install(app, known_problems)
    caching.install(app, operations)
    if keys is None:
        keys = SigningKeys(partial(fetch_keys, settings.jwt_jwks_url, settings.jwt_issuer), readiness)
        at_start = [keys.keep_fresh, *at_start]
    verify_token = authenticate(settings, is_user_id, keys)
    shared = settings.limits_redis
    leases = Leases(settings.budgets, connect(shared.url, **shared.options()) if shared else None)
    operations.guards += [lambda _: verify_token(), limits.install(app, operations, settings.budgets, leases)]
    app.register_blueprint(operations.blueprint)
    described = json.dumps(document(service, version(service), operations, known_problems))

    @app.get("/openapi.json")
    def openapi() -> ResponseReturnValue:
        return Response(described, content_type="application/json")

    announce_build(service, settings.build_commit, contracts)
    app.extensions[AT_START] = [
        partial(traces.start, service, settings),
        partial(admin.start, settings.host, settings.admin_port, readiness.waiting_for, are_stuck),
        leases.keep_settling,
        *at_start,
    ]
    return app
