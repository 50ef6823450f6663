"""Wiring, and nothing else: real parts, in the order in which they are needed."""

import logging
import os
import tempfile
import threading
from collections.abc import Sequence
from typing import Any

import faust
from botocore.exceptions import BotoCoreError, ClientError
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from contracts import TOPICS, ContractError, FollowChanged, Topic
from contracts.registry import RegistryAwayError, codec_for
from count_aggregator.agents import consume
from count_aggregator.counting import Counting
from count_aggregator.dead_letters import KafkaDeadLetters
from count_aggregator.inbox import Inbox, Message
from count_aggregator.ledger import Ledger, TryAgainError, client
from count_aggregator.progress import Progress
from count_aggregator.settings import Settings

TOPIC = TOPICS["FollowChanged"]
LONGEST_STOP = 20.0
FATAL_ONLY = 2  # librdkafka's log level: what it cannot reach, we say ourselves
EXIT_HUNG = 75
_log = logging.getLogger(__name__)


def create_app(settings: Settings, progress: Progress) -> faust.App:
    """Wait for the parts and build the worker on them."""
    ledger = Ledger(client(), settings.table_prefix)
    progress.wait("dynamodb", ledger.check, (BotoCoreError, ClientError, TryAgainError))
    progress.wait("kafka", lambda: check_topic(settings.kafka, TOPIC), (KafkaException, ContractError))
    away = (RegistryAwayError, ContractError)
    codec = progress.wait("registry", lambda: codec_for(TOPIC, settings.registry_url), away)
    progress.await_partitions()

    app = faust.App(
        "count-aggregator",
        broker=[f"kafka://{server}" for server in settings.kafka.split(",")],
        web_enabled=False,
        datadir=f"{tempfile.gettempdir()}/count-aggregator-{os.getuid()}",  # stays empty; the default is where we stand
        topic_disable_leader=True,
        topic_allow_declare=False,
        consumer_auto_offset_reset="earliest",
        stream_wait_empty=True,  # without it SIGTERM loses the batch in flight
        broker_session_timeout=10,
        broker_heartbeat_interval=2,
        broker_request_timeout=40,
        broker_commit_interval=1.0,
    )
    inbox = Inbox(TOPIC, codec, KafkaDeadLetters(settings.kafka, TOPIC))
    counting = Counting(ledger)

    def handle(partition: int, messages: Sequence[Message]) -> None:
        events = [event for event in inbox.read(messages) if isinstance(event, FollowChanged)]
        counting.count(f"{TOPIC.name}/{partition}", events)

    consume(app, TOPIC.name, handle, progress.busy)

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
