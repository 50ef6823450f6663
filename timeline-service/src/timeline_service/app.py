"""create_app: wiring, and nothing else."""

import time

import jwt
from flask import Flask

from contracts.ids import is_user_id
from timeline_service import api, health, problems, telemetry
from timeline_service.archive import DynamoArchive, client
from timeline_service.auth import Keys, authenticate
from timeline_service.bodies import Bodies
from timeline_service.building import Building
from timeline_service.cache import RedisCache, connect
from timeline_service.celebrities import Celebrities, Sayings
from timeline_service.places import Places
from timeline_service.reading import Reading
from timeline_service.settings import Settings

PATIENCE = 2.0  # seconds that a read waits for its turn to rebuild


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
    celebrities = Celebrities(archive.celebrities)
    checks = {"dynamodb": archive.check, "redis": health.once(cache.check), "celebrities": celebrities.check}

    app = Flask(__name__)
    telemetry.install(app)
    problems.install(app, api.STATUSES)
    app.register_blueprint(health.blueprint("timeline_service", checks))
    before = authenticate(keys, settings.jwt_issuer, settings.jwt_audience, is_user_id)
    places = Places(settings.rebuilds_in_flight, PATIENCE)
    building = Building(cache, archive, places)
    sayings = Sayings(celebrities.known, cache.authors, building, settings.celebrities_a_wave, time.monotonic)
    bodies = Bodies(cache, archive, time.monotonic)
    reading = Reading(
        cache, archive, building, sayings, bodies, lambda source: telemetry.PAGES.labels(source).inc(), time.time
    )
    app.register_blueprint(api.blueprint(reading, before))
    telemetry.CELEBRITIES_AGE.set_function(celebrities.age)
    telemetry.REBUILDS.set_function(lambda: places.inside)
    celebrities.keep_fresh()
    health.announce(checks)
    return app
