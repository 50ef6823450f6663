"""create_app: wiring, and nothing else."""

import jwt
from flask import Flask

from timeline_service import api, health, problems, telemetry
from timeline_service.archive import DynamoArchive, client
from timeline_service.auth import Keys, authenticate
from timeline_service.cache import RedisCache, connect
from timeline_service.reading import Reading
from timeline_service.settings import Settings
from timeline_service.timeline import is_user_id


def create_app(
    settings: Settings | None = None,
    *,
    cache: RedisCache | None = None,
    archive: DynamoArchive | None = None,
    keys: Keys | None = None,
) -> Flask:
    """Build the service on real parts; a test may bring its own."""
    settings = settings or Settings.from_environment()
    cache = cache or RedisCache(connect(settings.redis_url))
    archive = archive or DynamoArchive(client(), settings.table_prefix, client(attempts=1))
    keys = keys or jwt.PyJWKClient(settings.jwks_url, timeout=3)
    # Redis is waited for at the start; should it go away later, the database serves on.
    checks = {"dynamodb": archive.check, "redis": health.once(cache.check)}

    app = Flask(__name__)
    telemetry.install(app)
    problems.install(app, api.STATUSES)
    app.register_blueprint(health.blueprint("timeline_service", checks))
    before = authenticate(keys, settings.jwt_issuer, settings.jwt_audience, is_user_id)
    reading = Reading(cache, archive, lambda source: telemetry.PAGES.labels(source).inc())
    app.register_blueprint(api.blueprint(reading, before))
    health.announce(checks)
    return app
