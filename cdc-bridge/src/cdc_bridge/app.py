"""The wiring: real parts from Settings."""

import gc
import logging
import socket
import threading
import time
import uuid
from collections.abc import Mapping

from cdc_bridge import dynamo_older_rows, dynamo_streams, health
from cdc_bridge.coordinator import Coordinator
from cdc_bridge.discovery import Discovery
from cdc_bridge.dynamo_leases import LeaseTable
from cdc_bridge.kafka_publisher import KafkaAwayError, Publisher, Topics
from cdc_bridge.leases import Lease
from cdc_bridge.lineage import ShardKey, State
from cdc_bridge.settings import Settings, Start
from cdc_bridge.shard_reader import ShardReader
from cdc_bridge.translate import TABLES
from contracts import TOPICS, Codec, ContractError
from contracts.registry import RegistryAwayError, codec_for

_PATIENCE_SECONDS = 1
_TOPICS_SECONDS = 0.5  # asked for in each round; leases must be renewed meanwhile
_OURS = [topic for topic in TOPICS.values() if "cdc-bridge" in topic.producers]
_LOOK_SECONDS = 2.0  # two calls of DescribeStream each time, and AWS allows ten a second to all bridges together
_log = logging.getLogger(__name__)


def now_ms() -> int:
    """Read the wall clock: leases are compared between machines, and rows carry its time."""
    return time.time_ns() // 1_000_000


class App:
    """The process: waits until Kafka and the registry keep the contracts, then bridges until it is stopped."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._topics = Topics(settings.kafka_bootstrap_servers, _OURS)
        self._stopping = threading.Event()
        self._bridge: Coordinator | None = None
        self._waiting = ["not started yet"]

    def run(self) -> None:
        """Work until stop() is called."""
        with health.serving(self._settings.host, self._settings.port, self.waiting_for, self.gaps):
            codecs = self._agreed()
            if self._stopping.is_set():
                return
            self._bridge = self._build(codecs)
            gc.freeze()  # what is loaded stays: going through it again and again took a sixth of each record's time
            if self._stopping.is_set():  # stop() came too early to find it
                self._bridge.stop()
            self._bridge.run()

    def stop(self) -> None:
        """Ask it to end; safe in a signal handler."""
        self._stopping.set()
        if self._bridge is not None:
            self._bridge.stop()

    def waiting_for(self) -> list[str]:
        """Name what it waits for; nothing means ready."""
        return self._waiting if self._bridge is None else self._bridge.waiting_for()

    def gaps(self) -> list[str]:
        """Name what was lost and is not cleared."""
        return [] if self._bridge is None else self._bridge.gaps()

    def _agreed(self) -> Mapping[str, Codec]:
        """Wait until every topic and subject is there and as its contract says; nothing is produced before."""
        while not self._stopping.is_set():
            try:
                self._topics.ids()
                return {topic.name: codec_for(topic, self._settings.schema_registry_url) for topic in _OURS}
            except (KafkaAwayError, RegistryAwayError, ContractError) as error:
                if self._waiting != [str(error)]:
                    _log.warning("waiting to start", extra={"error": str(error)})
                self._waiting = [str(error)]
            self._stopping.wait(_PATIENCE_SECONDS)
        return {}

    def _build(self, codecs: Mapping[str, Codec]) -> Coordinator:
        settings = self._settings
        dynamodb, streams = dynamo_streams.connect(settings.table_prefix)
        leases = LeaseTable(dynamodb, settings.table_prefix, round(settings.lease_seconds * 1000))

        def reader(shard: ShardKey, lease: Lease) -> ShardReader:
            return ShardReader(
                shard,
                lease,
                codecs,
                leases,
                lambda: streams.open(shard.stream_arn, shard.shard_id),
                lambda: Publisher(settings.kafka_bootstrap_servers),
                settings.gap_policy,
                now_ms,
            )

        discovery = Discovery(
            streams,
            leases,
            lambda: self._topics.ids(_TOPICS_SECONDS),
            settings.gap_policy,
            State.SKIPPING if settings.start is Start.LATEST else State.LEFT,
            lambda table, arn: dynamo_older_rows.may_have_older_rows(
                dynamodb, settings.table_prefix + table, arn, now_ms()
            ),
            now_ms,
        )
        owner = f"{socket.gethostname()}/{uuid.uuid4()}"
        look_seconds = min(_LOOK_SECONDS, settings.lease_seconds / 4)
        return Coordinator(TABLES, discovery, leases, reader, owner, look_seconds, settings.lease_seconds / 2, now_ms)
