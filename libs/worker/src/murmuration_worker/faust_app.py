"""Faust, and the guards without which it loses events or hangs. Nothing else imports it."""

import os
import tempfile
import threading
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NoReturn

import faust
from faust.types import TP

from contracts import Topic
from murmuration_runtime.kafka_connection import KafkaSettings
from murmuration_worker import exits, faust_credentials
from murmuration_worker.acknowledged import Acknowledged
from murmuration_worker.continuity import Continuity
from murmuration_worker.lane import Order
from murmuration_worker.lanes import Lanes
from murmuration_worker.partition_lane import Attempt, Parts

LONGEST_STOP_SECONDS = 20.0
MOST_AT_ONCE = 500  # messages that are taken from what was fetched: a partition that is held back may bring these yet


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
        broker_max_poll_records=MOST_AT_ONCE,
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
    topic: Topic,
    order: Order[Any],
    attempt: Attempt,
    continuity: Callable[[int], Continuity | None],
    acknowledged: Acknowledged,
) -> None:
    """Have the topic's messages handled in this order; see Lanes."""
    name = kafka.topic_name(topic.name)
    channel = app.topic(name, key_type=bytes, value_type=bytes, key_serializer="raw", value_serializer="raw")
    threads = ThreadPoolExecutor((order.at_once + 1) * topic.partitions, thread_name_prefix=topic.name)

    @app.agent(channel, concurrency=1, name=topic.name)
    async def agent(stream: Any) -> None:
        source = _Stream(app, stream, topic.name, acknowledged)
        lanes = Lanes(Parts(source, topic.name, order, attempt, threads), continuity)
        queue = _Queue(app, lanes)  # Faust holds it by a weak reference
        app.flow_control.manage_queue(queue)  # type: ignore[arg-type]  # all that it does is to clear it
        await queue.lanes.run()


@dataclass(frozen=True)
class _Queue:
    """A topic's lanes, as Faust sees them: it empties queues when partitions go, at a stop, and when it begins."""

    app: faust.App
    lanes: Lanes

    def clear(self) -> None:
        """Forget what Kafka will have for whoever comes next; what came to us since it began is ours."""
        if not self.app.flow_control.is_active():
            self.lanes.clear()


class _Stream:
    """A topic's stream, as Lanes wants it."""

    def __init__(self, app: faust.App, stream: Any, topic: str, acknowledged: Acknowledged) -> None:
        self._consumer = app.consumer
        self._stream = stream
        self._topic = topic
        self._acknowledged = acknowledged

    def events(self) -> AsyncIterator[Any]:
        events: AsyncIterator[Any] = self._stream.noack().events()
        return events

    def ack(self, event: Any) -> None:
        event.ack()
        self._acknowledged.note((self._topic, event.message.partition), event.message.offset)

    def hold(self, event: Any) -> None:
        self._consumer.on_buffer_full(_place(event))  # pause_partitions() would drop what was fetched already

    def release(self, event: Any) -> None:
        self._consumer.on_buffer_drop(_place(event))

    def forget(self, event: Any) -> None:
        self._consumer.unacked.discard(event.message)  # these Faust waits for when partitions are revoked


def _place(event: Any) -> TP:
    return TP(event.message.topic, event.message.partition)  # message.tp is aiokafka's, which Faust refuses


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
