"""Messages into Kafka, all of them or an error.

Rule: gapless. A later message never lies in a partition when an earlier one of its publisher does not, because a
consumer's watermark would take the earlier one's retry for a repeat. So messages never time out but wait, and the
first that is refused ends the producer (enable.gapless.guarantee). Whoever publishes a shard has a publisher of their
own, so one shard's refusal stops no other.
"""

import logging
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Self

from confluent_kafka import KafkaError, KafkaException, Producer
from confluent_kafka import Message as Delivery

from cdc_bridge.envelope import Message
from contracts import ContractError, Topic

_POLL_SECONDS = 0.1
_METADATA_SECONDS = 3
_FATAL_ONLY = 2  # librdkafka writes several lines a second while a broker is away; see _tell
_log = logging.getLogger(__name__)


class KafkaAwayError(Exception):
    """Kafka does not answer, or lacks a topic: wait and ask again."""


class PublishError(Exception):
    """Not everything was acknowledged: go on from the checkpoint, with a new publisher."""


class Publisher:
    """One shard's producer; a context, after whose end nothing more is sent."""

    def __init__(self, bootstrap_servers: str) -> None:
        self._told: set[int] = set()
        self._producer = Producer(
            {
                "bootstrap.servers": bootstrap_servers,
                "acks": "all",
                "enable.idempotence": True,
                "enable.gapless.guarantee": True,
                "message.timeout.ms": 0,
                "linger.ms": 1,
                "log_level": _FATAL_ONLY,
                "error_cb": self._tell,
            },
            logger=_log,
        )

    def publish(self, messages: Sequence[Message], given_up: Callable[[], bool] = lambda: False) -> None:
        """Return when Kafka has acknowledged every message, in order; wait while it is away, unless given up."""
        acknowledged = 0
        refused: list[str] = []

        def delivered(error: KafkaError | None, delivery: Delivery) -> None:
            nonlocal acknowledged
            if error is None:
                acknowledged += 1
            else:
                refused.append(f"{delivery.topic()} [{delivery.partition()}]: {error}")

        def wait() -> None:
            try:
                self._producer.poll(_POLL_SECONDS)
            except KafkaException as error:  # only what ends the producer is raised here
                raise PublishError(f"the producer has ended: {error}") from error
            if refused:
                raise PublishError(f"Kafka refused {len(refused)} of {len(messages)}; the first: {refused[0]}")
            if given_up():
                raise PublishError(f"given up with {acknowledged} of {len(messages)} acknowledged")

        for message in messages:
            while not self._queued(message, delivered):
                wait()
        while acknowledged < len(messages):
            wait()
        self._told.clear()

    def _queued(self, message: Message, delivered: Callable[[KafkaError | None, Delivery], None]) -> bool:
        try:
            self._producer.produce(
                message.topic,
                message.value,
                message.key,
                message.partition,
                on_delivery=delivered,
                headers=[*message.headers],
            )
        except BufferError:
            return False
        except KafkaException as error:
            raise PublishError(f"{message.topic} [{message.partition}]: {error}") from error
        return True

    def _tell(self, error: KafkaError) -> None:
        """Log each kind of trouble once until something is acknowledged again."""
        if error.code() not in self._told:
            _log.warning("Kafka troubles", extra={"error": error.str()})
        self._told.add(error.code())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, at: TracebackType | None) -> None:
        self._producer.purge()
        with suppress(KafkaException):  # it has ended already
            self._producer.flush(_METADATA_SECONDS)


def check_topics(bootstrap_servers: str, topics: Iterable[Topic]) -> None:
    """Refuse a topic whose number of partitions is not the contract's: events would lie where nobody looks."""
    producer = Producer({"bootstrap.servers": bootstrap_servers, "log_level": _FATAL_ONLY}, logger=_log)
    try:
        found = producer.list_topics(timeout=_METADATA_SECONDS).topics
    except KafkaException as error:
        raise KafkaAwayError(f"Kafka at {bootstrap_servers} does not answer: {error.args[0].str()}") from error
    for topic in topics:
        for name in (topic.name, topic.dlq):
            if name not in found:
                raise KafkaAwayError(f"Kafka has no topic {name}: run `python -m contracts apply`")
        count = len(found[topic.name].partitions)
        if count != topic.partitions:
            raise ContractError(
                f"topic {topic.name} has {count} partitions where its contract says {topic.partitions}:"
                " the order of events rests on that number, so growing means a new topic"
            )
