"""A worker, put together: wait for the parts, then consume until told to stop."""

import signal
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

from contracts import Codec, ContractError, Topic
from contracts.image import own
from contracts.registry import RegistryAwayError
from murmuration_runtime import admin, logs, traces
from murmuration_runtime.kafka import READ, WRITE, KafkaTopics, Partition
from murmuration_runtime.metrics import announce_build
from murmuration_runtime.periodic import keep_calling
from murmuration_runtime.readiness import Check, Readiness
from murmuration_worker import faust_app, topic_settings
from murmuration_worker.continuity import Continuity
from murmuration_worker.dead_letters import DeadLetters
from murmuration_worker.handler import Handle, Handler
from murmuration_worker.inbox import Inbox
from murmuration_worker.metrics import BEHIND
from murmuration_worker.progress import Progress
from murmuration_worker.settings import WorkerSettings
from murmuration_worker.topic_settings import TopicSettings
from murmuration_worker.watchdog import Watchdog

PARTITIONS = "partitions"


@dataclass(frozen=True)
class Consumption:
    """One topic and who handles it; see consume()."""

    topic: Topic
    handle: Handle
    batch: int
    in_hand: int


def consume(topic: Topic, handle: Handle, *, batch: int = 1, in_hand: int = 200) -> Consumption:
    """Have a topic's events handled in the order of each partition, several partitions at once.

    `batch` is how many messages the handler gets in one call, at most; it returns when they are done. When a store is
    away it raises StoreAwayError and gets them again, until it returns; any other exception ends the process. `in_hand`
    is how many messages may be taken from Kafka and not be acknowledged yet: a SIGTERM and a rebalance wait for them.
    """
    return Consumption(topic, handle, batch, in_hand)


def run_worker(
    service: str,
    settings: WorkerSettings,
    consumptions: Sequence[Consumption],
    *,
    stores: Mapping[str, Check],
    repair: str | None = None,
    refresh: Mapping[str, Check] | None = None,
    progress: Progress | None = None,
) -> NoReturn:
    """Wait for the stores, Kafka and the registry, not ready meanwhile; then consume until SIGTERM or SIGINT.

    service: the distribution's name, and the consumer group's. stores: what raises unless a store answers. repair: the
    command that makes up for events that vanished. refresh: what is called once before the work begins and then every
    few seconds. progress: whose heartbeat the handlers call, if one call of them may take half a minute.
    """
    # No signal ends a container's first process unless it is handled; until Faust handles it, nothing has begun.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: sys.exit(0))
    logs.write_json(settings.log_level)
    traces.start(service, settings)
    announce_build(service, settings.build_commit, own(service).labels())
    progress, refresh = progress or Progress(), refresh or {}
    readiness = Readiness(*stores, *refresh, "kafka", "registry", PARTITIONS)
    admin.start(settings.host, settings.admin_port, lambda: [*readiness.waiting_for(), *progress.waiting_for()])
    for name, check in {**stores, **refresh}.items():
        readiness.wait(name, check)
    rights = {each.topic.name: READ for each in consumptions} | {each.topic.dlq: WRITE for each in consumptions}
    topics = KafkaTopics(settings, [each.topic for each in consumptions], rights=rights)

    def check_kafka() -> dict[str, str]:
        ids = topics.ids()
        topics.committed(service)  # Faust would end, again and again, where it may not join the group
        return ids

    topic_ids = readiness.wait("kafka", check_kafka, ContractError)
    codecs = readiness.wait("registry", lambda: _codecs(consumptions, settings), RegistryAwayError, ContractError)
    readiness.lacks(PARTITIONS, "Kafka has not yet said which are ours")

    app = faust_app.create(service, settings)
    group = _Group(service, topics, readiness)
    faust_app.on_rebalance(app, settings, group.assigned, group.revoked)
    dead_letters = readiness.wait("kafka", lambda: DeadLetters(settings, service))
    for each in consumptions:
        inbox = Inbox(each.topic, codecs[each.topic.name], dead_letters.send, progress.pause)
        handler = Handler(each.handle, topic_ids[each.topic.name], inbox, group.continuity, progress)
        faust_app.read(app, settings, each.topic.name, handler.handle, each.batch, each.in_hand)

    for name, call in refresh.items():
        keep_calling(name, call)
    keep_calling("topics' settings", TopicSettings(topics.differing).look, topic_settings.EVERY_SECONDS)
    readiness.keep_looking({**stores, "kafka": check_kafka})
    Watchdog(
        settings.stall_seconds,
        progress.sights,
        behind=group.behind,
        are_same_topics=lambda: topics.ids() == topic_ids,
        repair=repair,
    ).start()
    faust_app.run(app)


class _Group:
    """This process's part of the consumer group."""

    def __init__(self, service: str, topics: KafkaTopics, readiness: Readiness) -> None:
        self._service = service
        self._topics = topics
        self._readiness = readiness
        self._ours = topics.partitions  # while Kafka has not said which, a lag anywhere may be ours
        self.continuity = Continuity(
            lambda: topics.committed(service), lambda partition: topics.starts([partition])[partition]
        )

    def assigned(self, partitions: set[Partition]) -> None:
        """Note which partitions are ours, be it none."""
        self.continuity.forget()
        self._ours = self._topics.partitions & partitions
        self._readiness.has(PARTITIONS)

    def revoked(self) -> None:
        """Note that Kafka deals the partitions out anew."""
        self._ours = self._topics.partitions

    def behind(self) -> dict[Partition, int]:
        """Return how many messages of each of our partitions are still to come."""
        counts = self._topics.behind_each(self._service, self._ours)
        BEHIND.set(sum(counts.values()))
        return counts


def _codecs(consumptions: Sequence[Consumption], settings: WorkerSettings) -> dict[str, Codec]:
    registry = settings.registry()
    return {each.topic.name: registry.codec(each.topic) for each in consumptions}
