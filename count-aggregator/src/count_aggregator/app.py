"""Wiring, and nothing else: real parts, in the order in which they are needed."""

import os
import tempfile
import threading
from collections.abc import Sequence
from typing import Any

import faust
from botocore.exceptions import BotoCoreError, ClientError

from contracts import ContractError, FollowChanged
from contracts.registry import RegistryAwayError, codec_for
from count_aggregator.agents import consume
from count_aggregator.continuity import Continuity
from count_aggregator.counting import Counting
from count_aggregator.dead_letters import KafkaDeadLetters
from count_aggregator.inbox import Inbox, Message
from count_aggregator.ledger import Ledger, TryAgainError, client
from count_aggregator.metrics import BEHIND, OPEN_GAPS
from count_aggregator.progress import Progress
from count_aggregator.settings import Settings
from count_aggregator.stream import GROUP, PARTITION_IDS, TOPIC, KafkaAwayError, Stream
from count_aggregator.tally import Arrival
from count_aggregator.watchdog import Watchdog

STREAM_RETENTION_S = 24 * 3600  # DynamoDB's own
MARGIN_S = 24 * 3600
KEPT_S = TOPIC.retention_ms // 1000 + STREAM_RETENTION_S + MARGIN_S
LONGEST_STOP = 20.0
EXIT_HUNG = 75


def create_app(settings: Settings, progress: Progress) -> faust.App:
    """Wait for the parts and build the worker on them."""
    ledger = Ledger(client(), settings.table_prefix, KEPT_S)
    stream = Stream(settings.kafka, TOPIC)
    progress.wait("dynamodb", ledger.check, (BotoCoreError, ClientError, TryAgainError))
    topic_id = progress.wait("kafka", stream.topic_id, (KafkaAwayError, ContractError))
    away = (RegistryAwayError, ContractError)
    codec = progress.wait("registry", lambda: codec_for(TOPIC, settings.registry_url), away)
    progress.await_partitions()

    app = faust.App(
        GROUP,
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
    counting = Counting(ledger, topic_id, alive=progress.attempted)
    continuity = Continuity(stream.committed, stream.start)

    def handle(partition: int, messages: Sequence[Message]) -> None:
        continuity.check(partition, [message.offset for message in messages])
        read = inbox.read(messages)
        arrivals = [Arrival(offset, event if isinstance(event, FollowChanged) else None) for offset, event in read]
        counting.count(PARTITION_IDS[partition], arrivals)

    consume(app, TOPIC.name, handle, progress.busy)
    ours = set(stream.partitions)  # while Kafka has not said which, a lag anywhere may be ours

    def behind() -> int:
        count = stream.behind(sorted(ours))
        BEHIND.set(count)
        return count

    def note_gaps() -> None:
        progress.gaps = ledger.open_gaps(PARTITION_IDS)
        OPEN_GAPS.set(sum(map(len, progress.gaps.values())))

    watchdog = Watchdog(
        settings.stall_seconds,
        lambda: progress.attempts,
        behind,
        lambda: stream.topic_id() == topic_id,
        note_gaps,
    )

    @app.on_partitions_assigned.connect
    async def assigned(*given: Any, **__: Any) -> None:
        _, places = given
        continuity.forget()
        ours.clear()
        ours.update(place.partition for place in places if place.topic == TOPIC.name)
        progress.partitions_came()

    @app.on_partitions_revoked.connect
    async def revoked(*_: Any, **__: Any) -> None:
        ours.update(stream.partitions)

    @app.task  # type: ignore[untyped-decorator]
    async def end_hard_when_stopping_hangs() -> None:
        await app.wait_until_stopped()
        last_resort = threading.Timer(LONGEST_STOP, os._exit, [EXIT_HUNG])
        last_resort.daemon = True
        last_resort.start()

    watchdog.start()
    return app
