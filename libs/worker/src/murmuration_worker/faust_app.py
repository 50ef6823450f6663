"""Faust, and the guards without which it loses events or hangs. Nothing else imports it."""

import os
import tempfile
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NoReturn

import faust

from murmuration_runtime.kafka_connection import KafkaSettings
from murmuration_worker import exits, faust_credentials
from murmuration_worker.lanes import THREADS, Lanes
from murmuration_worker.messages import Message

LONGEST_STOP_SECONDS = 20.0


def create(service: str, kafka: KafkaSettings) -> faust.App:
    """Create an app for this service's consumer group."""
    app = faust.App(
        kafka.group_name(service),
        broker=[f"kafka://{server.strip()}" for server in kafka.kafka_bootstrap_servers.split(",")],
        broker_credentials=faust_credentials.credentials(kafka),
        broker_client_id=kafka.kafka_client_id or service,
        web_enabled=False,
        datadir=f"{tempfile.gettempdir()}/{service}-{os.getuid()}",  # stays empty; the default is where we stand
        topic_disable_leader=True,
        topic_allow_declare=False,
        consumer_auto_offset_reset="earliest",
        stream_wait_empty=True,  # without it SIGTERM loses the batch in flight
        broker_session_timeout=10,
        broker_heartbeat_interval=2,
        broker_request_timeout=40,
        broker_commit_interval=1.0,
    )

    @app.task  # type: ignore[untyped-decorator]
    async def end_hard_when_stopping_hangs() -> None:
        await app.wait_until_stopped()
        last_resort = threading.Timer(LONGEST_STOP_SECONDS, os._exit, [exits.STOP_HUNG])
        last_resort.daemon = True
        last_resort.start()

    return app


def read(
    app: faust.App,
    kafka: KafkaSettings,
    topic: str,
    handle: Callable[[Sequence[Message]], object],
    batch: int,
    in_hand: int,
) -> None:
    """Have the topic's messages handled, so many at once of each partition, while so many are not acknowledged."""
    name = kafka.topic_name(topic)
    channel = app.topic(name, key_type=bytes, value_type=bytes, key_serializer="raw", value_serializer="raw")
    threads = ThreadPoolExecutor(THREADS, thread_name_prefix=topic)

    @app.agent(channel, concurrency=1, name=topic)
    async def agent(stream: Any) -> None:
        await Lanes(stream, topic, handle, threads, batch).run(in_hand)


def on_rebalance(
    app: faust.App,
    kafka: KafkaSettings,
    assigned: Callable[[set[tuple[str, int]]], object],
    revoked: Callable[[], object],
) -> None:
    """Tell when partitions are taken away, and which are ours when Kafka has said so."""

    @app.on_partitions_assigned.connect
    async def come(*given: Any, **__: Any) -> None:
        _, partitions = given
        assigned({(each.topic.removeprefix(kafka.kafka_topic_prefix), each.partition) for each in partitions})

    @app.on_partitions_revoked.connect
    async def gone(*_: Any, **__: Any) -> None:
        revoked()


def run(app: faust.App) -> NoReturn:
    """Work until SIGTERM or SIGINT, which finish what is in hand."""
    worker = faust.Worker(app, quiet=True, override_logging=False, redirect_stdouts=False)
    worker.spinner = None  # it writes terminal codes between the lines of the log
    worker.execute_from_commandline()
    raise SystemExit
