"""Messages into Kafka, all of them or an error.

Rule: gapless. Within a partition a later message never lies in the log when an earlier one of its publisher does not,
because a consumer's watermark would take the earlier one's retry for a repeat. Between partitions there is no order.
1. Messages never time out but wait, and the first that is refused ends the producer (enable.gapless.guarantee).
2. The first message to each partition goes alone, until Kafka has acknowledged it. A broker that has no state of a
   producer in a partition takes any request as its first, also the second after a refused one, and librdkafka then
   reports the refused one as delivered (KAFKA-15591). From the second request on the broker knows the producer and
   refuses what is out of sequence. It forgets a producer that is idle for long: then the first goes alone again.
3. Only an offset proves that a message lies in the log. A delivery report without one means that nobody knows.
Whoever publishes a shard has a publisher of their own, so one shard's refusal stops no other.
"""

import logging
import math
import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self

from confluent_kafka import KafkaError, KafkaException, Producer
from confluent_kafka import Message as Delivery

from cdc_bridge.message import Message
from murmuration_runtime.kafka import FATAL_ONLY
from murmuration_runtime.kafka_connection import KafkaSettings

KNOWN_SECONDS = 3600  # well below Kafka's producer.id.expiration.ms, a day
_POLL_SECONDS = 0.1
_FLUSH_SECONDS = 3
_log = logging.getLogger(__name__)


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


class _Reports:
    """What Kafka has said about messages that were sent together."""

    def __init__(self, together: int) -> None:
        self.together = together
        self.acknowledged = 0
        self._failed: list[tuple[KafkaError | None, Delivery]] = []

    def add(self, error: KafkaError | None, delivery: Delivery) -> None:
        """Take one delivery report; it does no more than it must, see Publisher._end."""
        if error is None and delivery.offset() is not None:
            self.acknowledged += 1
        else:
            self._failed.append((error, delivery))

    def failure(self) -> PublishError | None:
        """Return the first refusal, or else the first failure."""
        failures = [_failure(error, f"{it.topic()} [{it.partition()}]", self.together) for error, it in self._failed]
        return next((it for it in failures if isinstance(it, RefusedError)), failures[0] if failures else None)

    def __str__(self) -> str:
        return f"{self.acknowledged} of {self.together}"


def _failure(error: KafkaError | None, where: str, together: int) -> PublishError:
    if error is None:
        return PublishError(f"a message for {where} was acknowledged without an offset: it may be there or not")
    kind = RefusedError if error.code() in _REFUSALS else PublishError
    return kind(f"Kafka refused a message for {where}, one of {together} sent together: {error.str()}")


class Publisher:
    """One shard's producer; a context, after whose end nothing more is sent."""

    def __init__(self, kafka: KafkaSettings, clock: Callable[[], float] = time.monotonic) -> None:
        self._kafka = kafka
        self._clock = clock
        self._known_at: dict[tuple[str, int], float] = {}  # by topic and partition: when a message got an offset there
        self._told: set[int] = set()
        ours = {
            "acks": "all",
            "enable.idempotence": True,
            "enable.gapless.guarantee": True,
            "message.timeout.ms": 0,
            "linger.ms": 1,
            "log_level": FATAL_ONLY,  # see _tell
            "error_cb": self._tell,
        }
        self._producer = Producer(kafka.librdkafka(**ours), logger=_log)

    def publish(self, messages: Sequence[Message], given_up: Callable[[], bool] = lambda: False) -> None:
        """Return when Kafka has acknowledged every message, in order; wait while it is away, unless given up."""
        began, sent, reports = self._clock(), 0, _Reports(len(messages))

        def wait() -> None:
            self._poll(reports)
            if given_up():
                raise PublishError(f"given up with {reports} acknowledged")
            if self._clock() - began >= KNOWN_SECONDS:
                raise PublishError(f"given up with {reports} acknowledged in {KNOWN_SECONDS} s")

        for wave in self._waves(messages, began):
            for message in wave:
                self._queue(message, reports, wait)
            sent += len(wave)
            while reports.acknowledged < sent:
                wait()
        self._known_at |= {(message.topic, message.partition): began for message in messages}
        self._told.clear()

    def _waves(self, messages: Sequence[Message], now: float) -> tuple[Sequence[Message], Sequence[Message]]:
        """Return what goes first, one message for each partition that may not know us, and what goes behind it."""
        first: dict[tuple[str, int], Message] = {}
        behind = []
        for message in messages:
            partition = message.topic, message.partition
            if partition in first or now - self._known_at.get(partition, -math.inf) < KNOWN_SECONDS:
                behind.append(message)
            else:
                first[partition] = message
        return [*first.values()], behind

    def _queue(self, message: Message, reports: _Reports, wait: Callable[[], None]) -> None:
        while True:
            try:
                self._producer.produce(
                    self._kafka.topic_name(message.topic),
                    message.value,
                    message.key,
                    message.partition,
                    on_delivery=reports.add,
                    headers=[*message.headers],
                )
            except BufferError:
                wait()
            except KafkaException as error:
                where = f"{message.topic} [{message.partition}]"
                raise self._ended(reports, _failure(error.args[0], where, reports.together)) from error
            else:
                return

    def _poll(self, reports: _Reports) -> None:
        try:
            self._producer.poll(_POLL_SECONDS)
        except (KafkaException, SystemError) as error:  # only what ends the producer is raised here
            raise self._ended(reports, PublishError(f"the producer has ended: {error}")) from error
        failure = reports.failure()
        if failure is not None:
            raise failure

    def _ended(self, reports: _Reports, error: PublishError) -> PublishError:
        """Return the refusal that ended the producer, or else this error."""
        self._end()  # only now every message is told its own error
        failure = reports.failure()
        return failure if isinstance(failure, RefusedError) else error

    def _end(self) -> None:
        """Send nothing more, and let every message be told its fate.

        confluent-kafka raises what ends a producer out of the next poll or flush, and first goes on calling delivery
        callbacks with that exception set: a call of C code in one of them becomes a SystemError.
        """
        self._producer.purge()
        while True:
            try:
                self._producer.flush(_FLUSH_SECONDS)
            except (KafkaException, SystemError):  # it has ended already
                continue
            return

    def _tell(self, error: KafkaError) -> None:
        """Log each kind of trouble once until something is acknowledged again."""
        if error.code() not in self._told:
            _log.warning("Kafka cannot be reached or refuses; librdkafka retries", extra={"reason": error.str()})
        self._told.add(error.code())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, at: TracebackType | None) -> None:
        self._end()
