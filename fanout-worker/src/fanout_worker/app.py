"""Wiring, and nothing else: real parts, in the order in which they are needed."""

import logging
import os
import tempfile
import threading
from collections.abc import Sequence
from functools import partial
from typing import Any

import faust
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from contracts import TOPICS, ContractError, Topic
from contracts.registry import RegistryAwayError, codec_for
from fanout_worker.agents import consume
from fanout_worker.dead_letters import KafkaDeadLetters
from fanout_worker.deliveries import Deliveries, StoreAwayError
from fanout_worker.inbox import Inbox, Message
from fanout_worker.progress import Progress
from fanout_worker.settings import Settings
from fanout_worker.tables import Tables, client
from fanout_worker.timelines import Timelines, connect

TOPIC_LIST = [topic for topic in TOPICS.values() if "fanout-worker" in topic.consumers]
LONGEST_STOP = 20.0
FATAL_ONLY = 2  # librdkafka's log level: what it cannot reach, we say ourselves
EXIT_HUNG = 75
_log = logging.getLogger(__name__)


def create_app(settings: Settings, progress: Progress) -> faust.App:
    """Wait for the parts and build the worker on them."""
    timelines = Timelines(connect(settings.redis_url))
    tables = Tables(client(), settings.table_prefix)
    progress.wait("redis", timelines.check, (StoreAwayError,))
    progress.wait("dynamodb", tables.check, (StoreAwayError,))
    codecs = {}
    for topic in TOPIC_LIST:
        progress.wait("kafka", partial(check_topic, settings.kafka, topic), (KafkaException, ContractError))
        attempt = partial(codec_for, topic, settings.registry_url)
        codecs[topic.name] = progress.wait("registry", attempt, (RegistryAwayError, ContractError))
    progress.await_partitions()

    app = faust.App(
        "fanout-worker",
        broker=[f"kafka://{server}" for server in settings.kafka.split(",")],
        web_enabled=False,
        datadir=f"{tempfile.gettempdir()}/fanout-worker-{os.getuid()}",  # stays empty; the default is where we stand
        topic_disable_leader=True,
        topic_allow_declare=False,
        consumer_auto_offset_reset="earliest",
        stream_wait_empty=True,  # without it SIGTERM loses the batch in flight
        broker_session_timeout=10,
        broker_heartbeat_interval=2,
        broker_request_timeout=40,
        broker_commit_interval=1.0,
    )
    deliveries = Deliveries(timelines, tables)
    for topic in TOPIC_LIST:
        inbox = Inbox(topic, codecs[topic.name], KafkaDeadLetters(settings.kafka, topic))
        consume(app, topic.name, partial(_handle, inbox, deliveries), progress.busy)

    @app.on_partitions_assigned.connect
    async def assigned(*_: Any, **__: Any) -> None:
        progress.partitions_came()

    @app.task  # type: ignore[untyped-decorator]
    async def end_hard_when_stopping_hangs() -> None:
        await app.wait_until_stopped()
        last_resort = threading.Timer(LONGEST_STOP, os._exit, [EXIT_HUNG])
        last_resort.daemon = True
        last_resort.start()

    return app


def _handle(inbox: Inbox, deliveries: Deliveries, _: int, messages: Sequence[Message]) -> None:
    deliveries.deliver(inbox.read(messages))


def check_topic(bootstrap_servers: str, topic: Topic) -> None:
    """Raise unless the topic is there with the contract's number of partitions."""
    admin = AdminClient({"bootstrap.servers": bootstrap_servers, "log_level": FATAL_ONLY}, logger=_log)
    found = admin.list_topics(topic.name, timeout=5).topics[topic.name]
    if found.error is not None:
        raise KafkaException(found.error)
    if len(found.partitions) != topic.partitions:
        raise ContractError(
            f"{topic.name} has {len(found.partitions)} partitions, its contract says {topic.partitions}"
        )
