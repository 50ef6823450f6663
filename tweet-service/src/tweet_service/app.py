"""create_app: wiring, and nothing else."""

import time
from collections.abc import Callable
from functools import cache, partial

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
from tweet_service import api
from tweet_service.audience import Accounts
from tweet_service.dynamo_accounts import DynamoAccounts
from tweet_service.dynamo_tweets import DynamoTweets
from tweet_service.dynamo_worker_ids import DynamoWorkerIds, keep_reserved
from tweet_service.settings import Settings
from tweet_service.snowflake import Snowflakes

SERVICE = "tweet-service"


def create_app(
    settings: Settings | None = None,
    *,
    tweets: DynamoTweets | None = None,
    accounts: Accounts | None = None,
    keys: Keys | None = None,
    ids: Snowflakes | None = None,
    now: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
) -> Flask:
    """Build the service on real parts; a test may bring its own."""
    settings = settings or read(Settings)
    dynamodb = cache(dynamo.client_for_requests)  # one for all: it is safe among threads, and takes its time to make
    if tweets is None:
        switch = MigrationSwitch(dynamodb(), settings.table_prefix, MIGRATIONS.LIVE_TWEETS)
        tweets = DynamoTweets(dynamodb(), settings.table_prefix, switch)
    accounts = accounts or DynamoAccounts(dynamodb(), settings.table_prefix)
    readiness = Readiness("dynamodb", "worker number")
    at_start = [partial(readiness.keep_looking, {"dynamodb": tweets.check})]
    if ids is None:
        ids = Snowflakes(now)
        worker_ids = DynamoWorkerIds(dynamodb(), settings.table_prefix, now)
        at_start.append(partial(keep_reserved, worker_ids, ids.reserve, readiness))
    return edge_app(
        SERVICE,
        settings,
        api.operations(tweets, accounts, ids.next, now),
        api.PROBLEMS,
        readiness,
        contracts=own(SERVICE).labels(),
        is_user_id=is_user_id,
        keys=keys,
        at_start=at_start,
    )
