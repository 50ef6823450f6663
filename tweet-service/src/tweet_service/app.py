"""create_app: wiring, and nothing else."""

import time
from collections.abc import Callable
from functools import cache

import jwt
from flask import Flask

from contracts.ids import is_user_id
from tweet_service import api, health, problems, telemetry
from tweet_service.audience import Accounts
from tweet_service.auth import Keys, authenticate
from tweet_service.dynamo_accounts import DynamoAccounts
from tweet_service.dynamo_tweets import DynamoTweets
from tweet_service.dynamo_worker_ids import WorkerIds, keep_reserved
from tweet_service.settings import Settings
from tweet_service.snowflake import Snowflakes
from tweet_service.tables import client

LARGEST_BODY = 64 * 1024


def create_app(
    settings: Settings | None = None,
    *,
    store: DynamoTweets | None = None,
    accounts: Accounts | None = None,
    keys: Keys | None = None,
    ids: Snowflakes | None = None,
    now: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
) -> Flask:
    """Build the service on real parts; a test may bring its own."""
    settings = settings or Settings.from_environment()
    dynamodb = cache(client)  # one for all: it is safe among threads, and takes its time to make
    store = store or DynamoTweets(dynamodb(), settings.table_prefix, client(attempts=1))
    accounts = accounts or DynamoAccounts(dynamodb(), settings.table_prefix)
    keys = keys or jwt.PyJWKClient(settings.jwks_url, timeout=3)
    if ids is None:
        ids = Snowflakes(now)
        keep_reserved(WorkerIds(dynamodb(), settings.table_prefix, now), ids.reserve)
    checks = {"dynamodb": store.check, "worker number": ids.check}

    app = Flask(__name__)
    app.config["MAX_CONTENT_LENGTH"] = LARGEST_BODY
    telemetry.install(app)
    problems.install(app, api.STATUSES)
    app.register_blueprint(health.blueprint("tweet_service", checks))
    before = authenticate(keys, settings.jwt_issuer, settings.jwt_audience, is_user_id)
    app.register_blueprint(api.blueprint(store, accounts, before, ids.next, now))
    health.announce(checks)
    return app


def create_probes(checks: health.Checks) -> Flask:
    """Build what a process answers that works without being asked."""
    app = Flask(__name__)
    app.register_blueprint(health.blueprint("tweet_service", checks))
    health.announce(checks)
    return app
