"""The wiring: real parts from Settings."""

import gc
import os
import signal
import socket
import time
import uuid
from collections.abc import Callable, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import closing

from cdc_bridge import dynamo_streams
from cdc_bridge.coordinator import LEASES_STEP, Coordinator, stream_of
from cdc_bridge.discovery import Discovery
from cdc_bridge.dynamo_leases import LeaseTable
from cdc_bridge.dynamo_older_rows import may_have_older_rows
from cdc_bridge.held_lease import HeldLease
from cdc_bridge.kafka_publisher import Producers
from cdc_bridge.lineage import ShardKey, State
from cdc_bridge.settings import Settings, Start
from cdc_bridge.shard_reader import ShardReader
from cdc_bridge.sharing import Sharing
from cdc_bridge.shown_streams import ShownStreams
from cdc_bridge.translate import TABLES
from cdc_bridge.turns import Turns
from contracts import TOPICS, Codec, ContractError
from contracts.image import own
from contracts.registry import RegistryAwayError
from murmuration_runtime import admin, logs, traces
from murmuration_runtime.kafka import WRITE, KafkaTopics
from murmuration_runtime.metrics import announce_build
from murmuration_runtime.readiness import Readiness

SERVICE = "cdc-bridge"
_OURS = [topic for topic in TOPICS.values() if SERVICE in topic.producers]
_DEAD_LETTERS = [topic.dlq for topic in _OURS]
_RIGHTS = dict.fromkeys([*(topic.name for topic in _OURS), *_DEAD_LETTERS], WRITE)
_TOPICS_SECONDS = 0.5  # asked for in each round; leases must be renewed meanwhile
_LOOK_SECONDS = 2.0  # how often streams are listed is for listings.py to say


def now_ms() -> int:
    """Read the wall clock: rows carry its time."""
    return time.time_ns() // 1_000_000


def steady_ms() -> int:
    """Read the clock that leases are counted by: no other machine's, and nobody sets it."""
    return time.monotonic_ns() // 1_000_000


def bridge(settings: Settings) -> None:
    """Wait until Kafka and the registry keep the contracts, not ready meanwhile; then bridge until told to stop."""
    # Nothing has begun. SystemExit would not do: raised in a callback of confluent-kafka it may be lost.
    _on_signal(lambda: os._exit(0))
    logs.write_json(settings.log_level)
    traces.start(SERVICE, settings)
    announce_build(SERVICE, settings.build_commit, own(SERVICE).labels())
    readiness = Readiness("kafka", "registry", *map(stream_of, TABLES), LEASES_STEP)
    questions = [readiness.waiting_for]
    admin.start(settings.host, settings.admin_port, lambda: [line for ask in questions for line in ask()])
    topics = KafkaTopics(settings, _OURS, rights=_RIGHTS)
    readiness.wait("kafka", lambda: topics.ids(_DEAD_LETTERS), ContractError)
    codecs = readiness.wait("registry", lambda: _codecs(settings), RegistryAwayError, ContractError)
    threads = ThreadPoolExecutor(settings.reader_threads, "reader")
    with Producers(settings) as producers, closing(Turns(threads)) as turns:
        coordinator = _coordinator(settings, codecs, producers, threads, turns, readiness)
        questions.append(coordinator.waiting_for)
        _on_signal(coordinator.stop)
        gc.freeze()  # what is loaded stays: going through it again and again took a sixth of each record's time
        coordinator.run()


def _on_signal(end: Callable[[], None]) -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: end())


def _codecs(settings: Settings) -> dict[str, Codec]:
    registry = settings.registry()
    return {topic.name: registry.codec(topic) for topic in _OURS}


def _coordinator(
    settings: Settings,
    codecs: Mapping[str, Codec],
    producers: Producers,
    threads: Executor,
    turns: Turns,
    readiness: Readiness,
) -> Coordinator:
    dynamodb, streams = dynamo_streams.connect(settings.table_prefix)
    leases = LeaseTable(dynamodb, settings.table_prefix)
    look_seconds = min(_LOOK_SECONDS, settings.lease_seconds / 4)
    lease_ms = round((settings.lease_seconds - look_seconds) * 1000)  # others see a renewal up to a round later
    topics = KafkaTopics(settings, _OURS, _TOPICS_SECONDS, _RIGHTS)

    def reader(shard: ShardKey, lease: HeldLease) -> ShardReader:
        return ShardReader(
            shard,
            lease,
            codecs,
            lambda: streams.open(shard.stream_arn, shard.shard_id),
            lambda: producers.publisher(shard),
            threads,
            settings.gap_policy,
            now_ms,
            steady_ms,
        )

    sharing = Sharing(leases, f"{socket.gethostname()}/{uuid.uuid4()}", TABLES, lease_ms, now_ms, steady_ms)
    discovery = Discovery(
        streams,
        leases,
        lambda: topics.ids(_DEAD_LETTERS),
        settings.gap_policy,
        State.SKIPPING if settings.start_position is Start.LATEST else State.LEFT,
        lambda table, arn: may_have_older_rows(dynamodb, settings.table_prefix + table, arn, now_ms()),
        now_ms,
        steady_ms,
        lambda: sharing.bridges,
    )
    return Coordinator(
        TABLES,
        discovery,
        sharing,
        reader,
        turns,
        readiness,
        look_seconds,
        grace_seconds=settings.lease_seconds / 2,
        steady=steady_ms,
        shown_streams=ShownStreams(leases, discovery.listings.last, now_ms),
    )
