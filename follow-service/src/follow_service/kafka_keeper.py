"""python -m follow_service keep: the worker that puts right what is kept, wired. It needs the extra `keeper`."""

import time
from functools import partial
from typing import NoReturn

from contracts import TOPICS, Event, Tombstone
from follow_service import keeper
from follow_service.dynamo_adjacency import DynamoAdjacency
from follow_service.dynamo_lists import DynamoLists
from follow_service.keeper_settings import KeeperSettings
from follow_service.kept_topics import PARTITIONS, SETTLED, TABLES
from follow_service.metrics import LAG
from follow_service.redis_cache import RedisCache, connect
from follow_service.redis_pages import RedisPages
from follow_service.redis_reset import forget_all
from murmuration_runtime import dynamo
from murmuration_runtime.kafka import KafkaTopics
from murmuration_runtime.redis_connection import RedisConnection
from murmuration_runtime.redis_settled import RedisSettled
from murmuration_runtime.settings import read
from murmuration_worker.acknowledged import Acknowledged
from murmuration_worker.dynamo_shown import DynamoShown
from murmuration_worker.messages import Batch
from murmuration_worker.progress import Progress
from murmuration_worker.settling import Settling
from murmuration_worker.worker import consume, run_worker

SERVICE = "follow-service"  # also the consumer group
BATCH = 100  # events that are handled together: so many rows are read in one call
TOPICS_READ = [topic for topic in TOPICS.values() if SERVICE in topic.consumers]


def keep() -> NoReturn:
    """Keep what is cached right until told to stop."""
    settings = read(KeeperSettings)
    nodes = connect(RedisConnection.of(settings, "graph_redis"))
    cache, pages = RedisCache(nodes), RedisPages(nodes)
    dynamodb, prefix = dynamo.client(attempts=1, connect_seconds=2, read_seconds=4), settings.table_prefix
    tables = DynamoAdjacency(dynamodb, prefix, DynamoLists(dynamodb, prefix))
    progress, acknowledged = Progress(), Acknowledged()
    topics = KafkaTopics(settings, TOPICS_READ)
    settling = Settling(
        PARTITIONS,
        DynamoShown(dynamodb, prefix, TABLES),
        topics.ends,
        acknowledged.offsets,
        partial(topics.committed, SERVICE),
        topics.starts,
        RedisSettled(nodes, SETTLED, PARTITIONS).write,
    )

    def handle(batch: Batch[Event | Tombstone]) -> None:
        keeper.apply(cache, pages, tables, batch.events, int(time.time() * 1000))
        now = time.time()
        for event in batch.events:
            if (at := getattr(event, "occurred_at", None)) is not None:  # of a removed row there is none
                LAG.observe(max(0.0, now - at / 1000))

    run_worker(
        SERVICE,
        settings,
        [consume(topic, handle, batch=BATCH) for topic in TOPICS_READ],
        stores={"redis": cache.check, "dynamodb": tables.check},
        rebuild=partial(forget_all, nodes, progress.heartbeat),
        progress=progress,
        acknowledged=acknowledged,
        beside={"settled topics": settling.look},
    )
