"""create_app: wiring, and nothing else."""

import time
from collections.abc import Callable

import jwt
from flask import Flask

from contracts.ids import is_user_id
from follow_service import api, health, problems, telemetry
from follow_service.auth import Keys, authenticate
from follow_service.dynamo_follows import DynamoFollows
from follow_service.settings import Settings
from follow_service.tables import client

LARGEST_BODY = 64 * 1024


def create_app(
    settings: Settings | None = None,
    *,
    store: DynamoFollows | None = None,
    keys: Keys | None = None,
    now: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
) -> Flask:
    """Build the service on real parts; a test may bring its own."""
    settings = settings or Settings.from_environment()
    store = store or DynamoFollows(client(), settings.table_prefix, client(attempts=1))
    keys = keys or jwt.PyJWKClient(settings.jwks_url, timeout=3)
    checks = {"dynamodb": store.check}

    app = Flask(__name__)
    app.config["MAX_CONTENT_LENGTH"] = LARGEST_BODY
    telemetry.install(app)
    problems.install(app, api.STATUSES)
    app.register_blueprint(health.blueprint("follow_service", checks))
    before = authenticate(keys, settings.jwt_issuer, settings.jwt_audience, is_user_id)
    app.register_blueprint(api.blueprint(store, before, now, settings.following_cap))
    health.announce(checks)
    return app
