"""create_app: wiring, and nothing else."""

import random
import time
from collections.abc import Callable

import jwt
from flask import Flask

from tweet_service import api, health, problems, telemetry
from tweet_service.auth import Keys, authenticate
from tweet_service.settings import Settings
from tweet_service.snowflake import WORKERS, Snowflakes
from tweet_service.store import DynamoStore, client
from tweet_service.tweets import is_user_id

LARGEST_BODY = 64 * 1024


def create_app(
    settings: Settings | None = None,
    *,
    store: DynamoStore | None = None,
    keys: Keys | None = None,
    worker: int | None = None,
    now: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
) -> Flask:
    """Build the service on real parts; a test may bring its own."""
    settings = settings or Settings.from_environment()
    store = store or DynamoStore(client(), settings.table_prefix)
    keys = keys or jwt.PyJWKClient(settings.jwks_url, timeout=3)
    ids = Snowflakes(random.randrange(WORKERS) if worker is None else worker, now)
    checks = {"dynamodb": store.check}

    app = Flask(__name__)
    app.config["MAX_CONTENT_LENGTH"] = LARGEST_BODY
    telemetry.install(app)
    problems.install(app, api.STATUSES)
    app.register_blueprint(health.blueprint("tweet_service", checks))
    before = authenticate(keys, settings.jwt_issuer, settings.jwt_audience, is_user_id)
    app.register_blueprint(api.blueprint(store, before, ids.next, now))
    health.announce(checks)
    return app
