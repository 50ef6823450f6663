"""A worker, put together: wait for the parts, then consume until told to stop."""

import os
import signal
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NoReturn

from contracts import Codec, ContractError, Topic
from contracts.image import own
from contracts.registry import RegistryAwayError
from murmuration_runtime import admin, logs, traces
from murmuration_runtime.kafka import READ, WRITE, KafkaTopics, Partition
from murmuration_runtime.metrics import announce_build
from murmuration_runtime.periodic import keep_calling
from murmuration_runtime.readiness import Check, Readiness
from murmuration_worker import faust_app, topic_settings
from murmuration_worker.acknowledged import Acknowledged
from murmuration_worker.continuity import Continuity, Places
from murmuration_worker.dead_letters import DeadLetters
from murmuration_worker.gaps import Gaps
from murmuration_worker.handler import Handle, Handler
from murmuration_worker.inbox import Inbox
from murmuration_worker.lane import Order
from murmuration_worker.metrics import BEHIND
from murmuration_worker.progress import Progress
from murmuration_worker.settings import WorkerSettings
from murmuration_worker.topic_settings import TopicSettings
from murmuration_worker.watchdog import Watchdog

PARTITIONS = "partitions"
BESIDE_SECONDS = 0.5
AT_ONCE = 4  # tries of a partition whose keys are handled side by side


@dataclass(frozen=True)
class Consumption:
    """One topic and who handles it; see consume()."""

    topic: Topic
    handle: Handle
    order: Order[Any]


def consume(topic: Topic, handle: Handle, *, batch: int = 1, by_key: bool = False, room: int = 1_000) -> Consumption:
    """Have a topic's events handled, several partitions at once, and each in its order; or by key.

    `batch` is how many messages the handler gets in one call, at most; it returns when they are done. When a store is
    away it raises StoreAwayError and gets them again, until it returns; any other exception ends the process.
    `by_key`: messages of one key are handled in their order, and those of different keys of a partition side by side;
    a batch has one key. `room` is how many messages of a partition may be taken from Kafka and not be acknowledged; a
    partition that has more is held back. What a crash repeats of a partition is a batch, or by key `room` messages;
    and what was acknowledged in the last second.
    """
    order: Order[Any] = Order(_key if by_key else _no_key, batch, AT_ONCE if by_key else 1, room)
    return Consumption(topic, handle, order)


def _key(event: Any) -> Hashable:
    key: bytes | None = event.message.key
    return key


def _no_key(_: Any) -> None:
    """Return what all have."""


def run_worker(
    service: str,
    settings: WorkerSettings,
    consumptions: Sequence[Consumption],
    *,
    stores: Mapping[str, Check],
    repair: str | None = None,
    rebuild: Callable[[], object] | None = None,
    refresh: Mapping[str, Check] | None = None,
    progress: Progress | None = None,
    acknowledged: Acknowledged | None = None,
    beside: Mapping[str, Callable[[], object]] | None = None,
) -> NoReturn:
    """Wait for the stores, Kafka and the registry, not ready meanwhile; then consume until SIGTERM or SIGINT.

    service: the distribution's name, and the consumer group's. stores: what raises unless a store answers. repair: the
    command that makes up for events that vanished with a topic. rebuild: makes up for events that Kafka gave up before
    they were read; none if the handler sees to that. refresh: what is called once before the work begins and then every
    few seconds. progress: whose heartbeat the handlers call, if one call of them may take half a minute. acknowledged:
    is told how far each partition has come. beside: what is called twice a second for as long as the worker works.
    """
    # No signal ends a container's first process unless it is handled; until Faust handles it, nothing has begun.
    # SystemExit would not do: raised in a callback of confluent-kafka it may be lost, and the process waits on.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: os._exit(0))
    logs.write_json(settings.log_level)
    traces.start(service, settings)
    announce_build(service, settings.build_commit, own(service).labels())
    progress, refresh, acknowledged = progress or Progress(), refresh or {}, acknowledged or Acknowledged()
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
    places = Places(group.committed, group.first_kept, Gaps(progress, rebuild).vanished, progress)
    for each in consumptions:
        name = each.topic.name
        inbox = Inbox(each.topic, codecs[name], dead_letters.send, progress.pause)
        handler = Handler(each.handle, topic_ids[name], inbox, progress)
        continuity = partial(_continuity, places, each.topic)
        faust_app.read(app, settings, each.topic, each.order, handler.attempt, continuity, acknowledged)

    for name, call in refresh.items():
        keep_calling(name, call)
    for name, call in (beside or {}).items():
        keep_calling(name, call, BESIDE_SECONDS)
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

    def assigned(self, partitions: set[Partition]) -> None:
        """Note which partitions are ours, be it none."""
        self._ours = self._topics.partitions & partitions
        self._readiness.has(PARTITIONS)

    def revoked(self) -> None:
        """Note that Kafka deals the partitions out anew."""
        self._ours = self._topics.partitions

    def committed(self, partition: Partition) -> int:
        """Return how far the group has acknowledged a partition."""
        return self._topics.committed(self._service, [partition])[partition]

    def first_kept(self, partition: Partition) -> int:
        """Return where what Kafka still has of a partition begins."""
        return self._topics.starts([partition])[partition]

    def behind(self) -> dict[Partition, int]:
        """Return how many messages of each of our partitions are still to come."""
        counts = self._topics.behind_each(self._service, self._ours)
        BEHIND.set(sum(counts.values()))
        return counts


def _codecs(consumptions: Sequence[Consumption], settings: WorkerSettings) -> dict[str, Codec]:
    registry = settings.registry()
    return {each.topic.name: registry.codec(each.topic) for each in consumptions}


def _continuity(places: Places, topic: Topic, number: int) -> Continuity | None:
    return None if topic.is_compacted else Continuity((topic.name, number), places)
