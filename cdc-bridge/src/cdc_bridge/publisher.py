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

from confluent_kafka import KafkaError, KafkaException, Producer, TopicCollection
from confluent_kafka import Message as Delivery
from confluent_kafka.admin import AdminClient

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


class RefusedError(PublishError):
    """Kafka will never take one of these messages as it is; which one is certain only if it was alone."""


# What is wrong with the message itself; everything else may pass when Kafka or its settings change.
_REFUSALS = {
    KafkaError.MSG_SIZE_TOO_LARGE,
    KafkaError.RECORD_LIST_TOO_LARGE,
    KafkaError.INVALID_MSG,
    KafkaError.INVALID_MSG_SIZE,
    KafkaError.INVALID_RECORD,
    KafkaError.INVALID_TIMESTAMP,
}


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
        failed: list[PublishError] = []

        def delivered(error: KafkaError | None, delivery: Delivery) -> None:
            nonlocal acknowledged
            if error is None:
                acknowledged += 1
            else:
                failed.append(_failure(error, f"{delivery.topic()} [{delivery.partition()}]", len(messages)))

        def wait() -> None:
            try:
                self._producer.poll(_POLL_SECONDS)
            except KafkaException as error:  # only what ends the producer is raised here
                self._end()  # only now every message is told its own error
                ended = PublishError(f"the producer has ended: {error}")
                raise next((it for it in failed if isinstance(it, RefusedError)), ended) from error
            if failed:
                raise failed[0]
            if given_up():
                raise PublishError(f"given up with {acknowledged} of {len(messages)} acknowledged")

        for message in messages:
            while not self._queued(message, delivered, len(messages)):
                wait()
        while acknowledged < len(messages):
            wait()
        self._told.clear()

    def _queued(
        self, message: Message, delivered: Callable[[KafkaError | None, Delivery], None], together: int
    ) -> bool:
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
            raise _failure(error.args[0], f"{message.topic} [{message.partition}]", together) from error
        return True

    def _end(self) -> None:
        """Send nothing more."""
        self._producer.purge()
        with suppress(KafkaException):  # it has ended already
            self._producer.flush(_METADATA_SECONDS)

    def _tell(self, error: KafkaError) -> None:
        """Log each kind of trouble once until something is acknowledged again."""
        if error.code() not in self._told:
            _log.warning("Kafka troubles", extra={"error": error.str()})
        self._told.add(error.code())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, at: TracebackType | None) -> None:
        self._end()


def _failure(error: KafkaError, where: str, together: int) -> PublishError:
    kind = RefusedError if error.code() in _REFUSALS else PublishError
    return kind(f"Kafka refused a message for {where}, one of {together} sent together: {error.str()}")


class Topics:
    """The contract's topics as Kafka has them."""

    def __init__(self, bootstrap_servers: str, topics: Iterable[Topic]) -> None:
        self._bootstrap_servers = bootstrap_servers
        self._topics = tuple(topics)
        self._client: AdminClient | None = None

    def ids(self, seconds: float = _METADATA_SECONDS) -> dict[str, str]:
        """Return each topic's id, which a topic made again under the same name does not keep.

        Refuse a topic whose number of partitions is not the contract's: events would lie where nobody looks.
        """
        counts = {name: count for topic in self._topics for name, count in _expected(topic)}
        client = self._client or self._connect()
        answers = client.describe_topics(TopicCollection(list(counts)), request_timeout=seconds)
        ids = {}
        for name, count in counts.items():
            try:
                found = answers[name].result(seconds)
            except (KafkaException, TimeoutError) as error:
                self._client = None  # one that failed is not asked again: after a broker's end some fail for ever
                if isinstance(error, KafkaException) and error.args[0].code() == KafkaError.UNKNOWN_TOPIC_OR_PART:
                    raise KafkaAwayError(f"Kafka has no topic {name}: run `python -m contracts apply`") from error
                raise KafkaAwayError(f"Kafka at {self._bootstrap_servers} does not answer: {error}") from error
            if count not in (None, len(found.partitions)):
                raise ContractError(
                    f"topic {name} has {len(found.partitions)} partitions where its contract says {count}:"
                    " the order of events rests on that number, so growing means a new topic"
                )
            ids[name] = str(found.topic_id)
        self._client = client
        return ids

    def _connect(self) -> AdminClient:
        return AdminClient({"bootstrap.servers": self._bootstrap_servers, "log_level": _FATAL_ONLY}, logger=_log)


def _expected(topic: Topic) -> list[tuple[str, int | None]]:
    return [(topic.name, topic.partitions), (topic.dlq, None)]
