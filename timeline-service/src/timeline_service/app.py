"""create_app: wiring, and nothing else."""

import time
from functools import partial
from typing import NamedTuple

from flask import Flask

from contracts.ids import is_user_id
from contracts.image import own
from contracts.tables import MIGRATIONS
from murmuration_edge.app import edge_app
from murmuration_edge.auth import Keys
from murmuration_runtime import dynamo
from murmuration_runtime.migration_switch import MigrationSwitch
from murmuration_runtime.readiness import Readiness
from murmuration_runtime.settings import read
from murmuration_runtime.settled_mark import SettledMark
from murmuration_timelines.celebrity_index import CelebrityIndex
from murmuration_timelines.reader import TimelineReader, connect
from timeline_service import api, metrics
from timeline_service.authors import Authors
from timeline_service.background_rebuilds import BackgroundRebuilds
from timeline_service.background_work import BackgroundWork
from timeline_service.bodies import Bodies
from timeline_service.builder import Builder
from timeline_service.celebrity_reads import CelebrityReads
from timeline_service.celebrity_tweets import CelebrityTweets
from timeline_service.confirming import Confirming
from timeline_service.departed import Departed
from timeline_service.dynamo_celebrities import DynamoCelebrities
from timeline_service.dynamo_edges import DynamoEdges
from timeline_service.dynamo_follows import DynamoFollows
from timeline_service.dynamo_mutes import DynamoMutes
from timeline_service.dynamo_profiles import DynamoProfiles
from timeline_service.dynamo_tweets import DynamoTweets
from timeline_service.page import Pages
from timeline_service.rebuild_slots import RebuildSlots
from timeline_service.renewals import Renewals
from timeline_service.settings import Settings

SERVICE = "timeline-service"
PATIENCE = 2.0  # seconds that a read waits for its turn to rebuild


class Rows(NamedTuple):
    """What is read of DynamoDB."""

    follows: DynamoFollows
    mutes: DynamoMutes
    tweets: DynamoTweets
    celebrities: DynamoCelebrities
    profiles: DynamoProfiles
    edges: DynamoEdges


def dynamo_rows(table_prefix: str) -> Rows:
    """Build the real ones, over one client."""
    dynamodb = dynamo.client_for_requests()
    return Rows(
        DynamoFollows(dynamodb, table_prefix),
        DynamoMutes(dynamodb, table_prefix),
        DynamoTweets(dynamodb, table_prefix, MigrationSwitch(dynamodb, table_prefix, MIGRATIONS.LIVE_TWEETS)),
        DynamoCelebrities(dynamodb, table_prefix),
        DynamoProfiles(dynamodb, table_prefix),
        DynamoEdges(dynamodb, table_prefix),
    )


def create_app(
    settings: Settings | None = None,
    *,
    cache: TimelineReader | None = None,
    rows: Rows | None = None,
    keys: Keys | None = None,
) -> Flask:
    """Build the service on real parts; a test may bring its own."""
    settings = settings or read(Settings)
    cache = cache or TimelineReader(connect(settings.redis_url, **settings.redis_options()))
    follows, mutes, tweets, celebrities, profiles, edges = rows or dynamo_rows(settings.table_prefix)
    index = CelebrityIndex(celebrities.celebrities)
    departed = Departed(profiles.departed, time.monotonic)
    slots = RebuildSlots(settings.rebuilds_in_flight, PATIENCE)
    authors = Authors(follows, mutes)
    builder = Builder(cache, authors, tweets, slots, run=BackgroundRebuilds().build, departed=departed)
    reads = CelebrityReads(tweets, time.monotonic)
    renewals = Renewals(cache, authors, builder, lambda outcome: metrics.COMPARISONS.labels(outcome).inc(), time.time)
    celebrity_tweets = CelebrityTweets(
        index.among,
        cache,
        builder,
        reads,
        renewals.look_at_celebrities,
        BackgroundWork("celebrities' lists were not built"),
        settings.celebrities_a_wave,
        time.monotonic,
    )
    bodies = Bodies(cache, tweets)
    mark = SettledMark(cache.edges_settled, time.time)
    confirming = Confirming(
        mark, edges, lambda: time.time() - index.age(), lambda outcome: metrics.CONFIRMED.labels(outcome).inc()
    )
    pages = Pages(
        cache,
        authors,
        tweets,
        builder,
        celebrity_tweets,
        bodies,
        renewals.look,
        lambda source: metrics.PAGES.labels(source).inc(),
        time.time,
        confirming,
        departed=departed,
    )
    metrics.EDGES_AGE.set_function(mark.age)
    metrics.CELEBRITIES_AGE.set_function(index.age)
    metrics.DEPARTED_AGE.set_function(departed.age)
    metrics.REBUILDS.set_function(lambda: slots.taken)

    def check_dynamodb() -> None:
        for table in (follows, mutes, tweets, profiles, edges):
            table.check()
        index.check()
        departed.check()

    readiness = Readiness("dynamodb", "redis")
    return edge_app(
        SERVICE,
        settings,
        api.operations(pages, profiles),
        api.PROBLEMS,
        readiness,
        contracts=own(SERVICE).labels(),
        is_user_id=is_user_id,
        keys=keys,
        at_start=[
            index.keep_fresh,
            mark.keep_fresh,
            departed.keep_fresh,
            partial(readiness.keep_looking, {"dynamodb": check_dynamodb, "redis": cache.check_pages}),
        ],
    )
