"""python -m follow_service keep: the worker that keeps profiles and lists right, wired. It needs the extra `keeper`."""

import time
from typing import NoReturn

from contracts import TOPICS, Event, Tombstone
from follow_service import keeper
from follow_service.dynamo_adjacency import DynamoAdjacency
from follow_service.dynamo_lists import DynamoLists
from follow_service.keeper_settings import KeeperSettings
from follow_service.metrics import LAG
from follow_service.redis_cache import RedisCache, connect
from murmuration_runtime import dynamo
from murmuration_runtime.redis_connection import RedisConnection
from murmuration_runtime.settings import read
from murmuration_worker.messages import Batch
from murmuration_worker.worker import consume, run_worker

SERVICE = "follow-service"  # also the consumer group
BATCH = 100  # events that are handled together: so many rows are read in one call
TOPICS_READ = [topic for topic in TOPICS.values() if SERVICE in topic.consumers]


def keep() -> NoReturn:
    """Keep what is cached right until told to stop."""
    settings = read(KeeperSettings)
    cache = RedisCache(connect(RedisConnection.of(settings, "graph_redis")))
    dynamodb, prefix = dynamo.client(attempts=1, connect_seconds=2, read_seconds=4), settings.table_prefix
    tables = DynamoAdjacency(dynamodb, prefix, DynamoLists(dynamodb, prefix))

    def handle(batch: Batch[Event | Tombstone]) -> None:
        keeper.apply(cache, tables, batch.events)
        now = time.time()
        for event in batch.events:
            if (at := getattr(event, "occurred_at", None)) is not None:  # of a removed row there is none
                LAG.observe(max(0.0, now - at / 1000))

    run_worker(
        SERVICE,
        settings,
        [consume(topic, handle, batch=BATCH) for topic in TOPICS_READ],
        stores={"redis": cache.check, "dynamodb": tables.check},
    )
