"""The worker's wiring, and nothing else."""

from functools import partial
from typing import NoReturn

from contracts import TOPICS, Event
from contracts.tables import MIGRATIONS
from fanout_worker.deliveries import Deliveries
from fanout_worker.dynamo_celebrities import DynamoCelebrities
from fanout_worker.dynamo_follows import DynamoFollows
from fanout_worker.dynamo_mutes import DynamoMutes
from fanout_worker.dynamo_tweets import DynamoTweets
from fanout_worker.settings import Settings
from fanout_worker.topics import SERVICE, TOPICS_READ
from murmuration_runtime import dynamo
from murmuration_runtime.kafka import KafkaTopics
from murmuration_runtime.migration_switch import MigrationSwitch
from murmuration_runtime.settings import read
from murmuration_timelines import reset_timelines
from murmuration_timelines.celebrity_index import CelebrityIndex
from murmuration_timelines.edges import PARTITIONS, TABLES
from murmuration_timelines.writer import TimelineWriter, connect
from murmuration_worker.acknowledged import Acknowledged
from murmuration_worker.dynamo_shown import DynamoShown
from murmuration_worker.messages import Batch
from murmuration_worker.progress import Progress
from murmuration_worker.settling import Settling
from murmuration_worker.worker import consume, run_worker

BATCH = 100  # changed follows of one account that are handled together: so many edges are read in one call


def fan_out() -> NoReturn:
    """Fan tweets out until told to stop."""
    settings = read(Settings)
    nodes = connect(settings.redis_url, **settings.redis_options())
    dynamodb = dynamo.client(attempts=1, connect_seconds=2, read_seconds=4)
    follows = DynamoFollows(dynamodb, settings.table_prefix)
    mutes = DynamoMutes(dynamodb, settings.table_prefix)
    switch = MigrationSwitch(dynamodb, settings.table_prefix, MIGRATIONS.LIVE_TWEETS)
    tweets = DynamoTweets(dynamodb, settings.table_prefix, switch)
    celebrities = DynamoCelebrities(dynamodb, settings.table_prefix)
    index = CelebrityIndex(celebrities.celebrities)
    progress, acknowledged = Progress(), Acknowledged()
    writer = TimelineWriter(nodes)
    edges = KafkaTopics(settings, [TOPICS[topic] for topic in TABLES])
    settling = Settling(
        PARTITIONS,
        DynamoShown(dynamodb, settings.table_prefix, TABLES),
        edges.ends,
        acknowledged.offsets,
        partial(edges.committed, SERVICE),
        edges.starts,
        writer.settle,
    )
    deliveries = Deliveries(
        writer,
        follows,
        mutes,
        tweets,
        celebrities,
        settings.celebrity_threshold,
        settings.celebrity_ahead,
        may_be_celebrity=index.lists,
        heartbeat=progress.heartbeat,
    )

    def deliver(batch: Batch[Event]) -> None:
        deliveries.deliver(batch.events, batch.kept)

    def check_tables() -> None:
        for rows in (follows, mutes, tweets, celebrities):
            rows.check()

    run_worker(
        SERVICE,
        settings,
        [consume(topic, deliver, batch=BATCH, by_key=True) for topic in TOPICS_READ],
        stores={"redis": writer.check, "dynamodb": check_tables},
        refresh={"celebrities": index.refresh},
        repair="python -m fanout_worker cold --all",
        rebuild=partial(reset_timelines.of_everybody, nodes, heartbeat=progress.heartbeat),
        progress=progress,
        acknowledged=acknowledged,
        beside={"settled edges": settling.look},
    )
