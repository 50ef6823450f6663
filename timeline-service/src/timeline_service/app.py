"""create_app: wiring, and nothing else."""

import time
from typing import NamedTuple

import jwt
from flask import Flask

from contracts.ids import is_user_id
from murmuration_runtime import dynamo
from murmuration_timelines.celebrity_index import CelebrityIndex
from murmuration_timelines.reader import TimelineReader, connect
from timeline_service import api, health, problems, telemetry
from timeline_service.auth import Keys, authenticate
from timeline_service.bodies import Bodies
from timeline_service.builder import Builder
from timeline_service.celebrity_tweets import CelebrityTweets
from timeline_service.dynamo_celebrities import DynamoCelebrities
from timeline_service.dynamo_follows import DynamoFollows
from timeline_service.dynamo_tweets import DynamoTweets
from timeline_service.page import Pages
from timeline_service.rebuild_slots import RebuildSlots
from timeline_service.settings import Settings

PATIENCE = 2.0  # seconds that a read waits for its turn to rebuild


class Rows(NamedTuple):
    """What is read of DynamoDB."""

    follows: DynamoFollows
    tweets: DynamoTweets
    celebrities: DynamoCelebrities


def dynamo_rows(table_prefix: str) -> Rows:
    """Build the real ones, over one client."""
    dynamodb = dynamo.client(plain=["Query"])
    return Rows(
        DynamoFollows(dynamodb, table_prefix),
        DynamoTweets(dynamodb, table_prefix),
        DynamoCelebrities(dynamodb, table_prefix),
    )


def create_app(
    settings: Settings | None = None,
    *,
    cache: TimelineReader | None = None,
    rows: Rows | None = None,
    keys: Keys | None = None,
) -> Flask:
    """Build the service on real parts; a test may bring its own."""
    settings = settings or Settings.from_environment()
    cache = cache or TimelineReader(connect(settings.redis_url))
    follows, tweets, celebrities = rows or dynamo_rows(settings.table_prefix)
    index = CelebrityIndex(celebrities.celebrities)
    keys = keys or jwt.PyJWKClient(settings.jwks_url, timeout=3)
    # Redis is waited for at the start; should it go away later, the database serves on.
    checks = {
        "followers": follows.check,
        "tweets": tweets.check,
        "redis": health.once(cache.check),
        "celebrities": index.check,
    }

    app = Flask(__name__)
    telemetry.install(app)
    problems.install(app, api.STATUSES)
    app.register_blueprint(health.blueprint("timeline_service", checks))
    before = authenticate(keys, settings.jwt_issuer, settings.jwt_audience, is_user_id)
    slots = RebuildSlots(settings.rebuilds_in_flight, PATIENCE)
    builder = Builder(cache, follows, tweets, slots)
    celebrity_tweets = CelebrityTweets(
        index.celebrities, cache.authors, builder, settings.celebrities_a_wave, time.monotonic
    )
    bodies = Bodies(cache, tweets, time.monotonic)
    pages = Pages(
        cache,
        follows,
        tweets,
        builder,
        celebrity_tweets,
        bodies,
        lambda source: telemetry.PAGES.labels(source).inc(),
        time.time,
    )
    app.register_blueprint(api.blueprint(pages, before))
    telemetry.CELEBRITIES_AGE.set_function(index.age)
    telemetry.REBUILDS.set_function(lambda: slots.taken)
    index.keep_fresh()
    health.announce(checks)
    return app
