"""Wiring, and nothing else: real parts, in the order in which they are needed."""

import os
import tempfile
import threading
from functools import partial
from typing import Any

import faust

from contracts import ContractError
from contracts.registry import RegistryAwayError, codec_for
from fanout_worker.agents import consume
from fanout_worker.continuity import Continuity
from fanout_worker.dead_letters import KafkaDeadLetters
from fanout_worker.deliveries import Deliveries, StoreAwayError
from fanout_worker.inbox import Inbox, Message
from fanout_worker.known import Known
from fanout_worker.metrics import BEHIND
from fanout_worker.progress import Progress
from fanout_worker.settings import Settings
from fanout_worker.store import client
from fanout_worker.streams import GROUP, TOPIC_LIST, KafkaAwayError, Streams
from fanout_worker.tables import Tables
from fanout_worker.timelines import Timelines, connect
from fanout_worker.watchdog import Watchdog

LONGEST_STOP = 20.0
EXIT_HUNG = 75


def create_app(settings: Settings, progress: Progress) -> faust.App:
    """Wait for the parts and build the worker on them."""
    timelines = Timelines(connect(settings.redis_url))
    tables = Tables(client(), settings.table_prefix)
    streams = Streams(settings.kafka, TOPIC_LIST)
    progress.wait("redis", timelines.check, (StoreAwayError,))
    progress.wait("dynamodb", tables.check, (StoreAwayError,))
    known = Known(tables.celebrities)
    progress.wait("dynamodb", known.refresh, (StoreAwayError,))
    topic_ids = progress.wait("kafka", streams.check, (KafkaAwayError, ContractError))
    codecs = {}
    for topic in TOPIC_LIST:
        attempt = partial(codec_for, topic, settings.registry_url)
        codecs[topic.name] = progress.wait("registry", attempt, (RegistryAwayError, ContractError))
    progress.await_partitions()

    app = faust.App(
        GROUP,
        broker=[f"kafka://{server}" for server in settings.kafka.split(",")],
        web_enabled=False,
        datadir=f"{tempfile.gettempdir()}/fanout-worker-{os.getuid()}",  # stays empty; the default is where we stand
        topic_disable_leader=True,
        topic_allow_declare=False,
        consumer_auto_offset_reset="earliest",
        stream_wait_empty=True,  # a SIGTERM finishes what is in hand
        broker_session_timeout=10,
        broker_heartbeat_interval=2,
        broker_request_timeout=40,
        broker_commit_interval=1.0,
    )
    deliveries = Deliveries(
        timelines,
        tables,
        settings.celebrity_threshold,
        settings.celebrity_ahead,
        known.__contains__,
        alive=progress.attempted,
    )

    continuity = Continuity(streams.committed, streams.start)

    def handle(topic: str, inbox: Inbox, message: Message) -> None:
        continuity.check((topic, message.partition), message.offset)
        with progress.busy():
            deliveries.deliver(inbox.read([message]))

    for topic in TOPIC_LIST:
        inbox = Inbox(topic, codecs[topic.name], KafkaDeadLetters(settings.kafka, topic))
        consume(app, topic.name, partial(handle, topic.name, inbox))
    ours = set(streams.places)  # while Kafka has not said which, a lag anywhere may be ours

    def behind() -> int:
        count = streams.behind(ours)
        BEHIND.set(count)
        return count

    watchdog = Watchdog(
        settings.stall_seconds,
        lambda: progress.attempts,
        behind,
        lambda: streams.topic_ids() == topic_ids,
        progress.kafka_is,
    )

    @app.on_partitions_assigned.connect
    async def assigned(*given: Any, **__: Any) -> None:
        _, places = given
        continuity.forget()
        ours.clear()
        ours.update({(place.topic, place.partition) for place in places} & streams.places)
        progress.partitions_came()

    @app.on_partitions_revoked.connect
    async def revoked(*_: Any, **__: Any) -> None:
        ours.update(streams.places)

    @app.task  # type: ignore[untyped-decorator]
    async def end_hard_when_stopping_hangs() -> None:
        await app.wait_until_stopped()
        last_resort = threading.Timer(LONGEST_STOP, os._exit, [EXIT_HUNG])
        last_resort.daemon = True
        last_resort.start()

    known.keep_fresh()
    watchdog.start()
    return app
