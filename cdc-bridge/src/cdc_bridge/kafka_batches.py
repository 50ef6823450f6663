"""Messages that go to Kafka together, and what became of them.

Rule: only an offset proves that a message lies in the log. A delivery report without one means that nobody knows.
"""

import threading
from collections.abc import Callable, Sequence

from confluent_kafka import KafkaError
from confluent_kafka import Message as Delivery

from cdc_bridge.message import Message

POLL_SECONDS = 0.1


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


class Sender:
    """One shard, as its producer sees it: how much of it is under way, and why it may send no more."""

    def __init__(self) -> None:
        self.handed = 0  # messages given to librdkafka
        self.reported = 0  # of them, those whose fate is known
        self.error: PublishError | None = None

    @property
    def under_way(self) -> int:
        """How many messages may still arrive in Kafka."""
        return self.handed - self.reported


class Batch:
    """Messages of one shard that were begun together. Ask or wait."""

    def __init__(self, sender: Sender, messages: Sequence[Message], began: float) -> None:
        self.sender = sender
        self.began = began
        self.count = len(messages)
        self.partitions = {(message.topic, message.partition) for message in messages}
        self.acknowledged = 0
        self.error: PublishError | None = None
        self._failed: list[tuple[KafkaError | None, Delivery]] = []
        self._over = threading.Event()

    def settled(self, within: float = 0) -> bool:
        """Say whether its fate is known, after at most so many seconds."""
        return self._over.wait(within)

    def wait(self, given_up: Callable[[], bool] = lambda: False) -> None:
        """Return when Kafka has acknowledged every message; wait while it is away, unless given up."""
        while not self._over.wait(POLL_SECONDS):
            if given_up():
                raise PublishError(f"given up with {self} acknowledged")
        if self.error:
            raise self.error

    def report(self, error: KafkaError | None, delivery: Delivery) -> None:
        """Take one delivery report; it does no more than it must, see SharedProducer._close."""
        self.sender.reported += 1
        if error is None and delivery.offset() is not None:
            self.acknowledged += 1
        else:
            self._failed.append((error, delivery))

    def failure(self) -> PublishError | None:
        """Return the first refusal, or else the first failure."""
        if not self._failed:
            return None
        failures = [failure_of(error, f"{it.topic()} [{it.partition()}]", self.count) for error, it in self._failed]
        return next((it for it in failures if isinstance(it, RefusedError)), failures[0])

    def end(self, error: PublishError | None = None) -> None:
        """Tell whoever waits."""
        self.error = error
        self._over.set()

    def __str__(self) -> str:
        return f"{self.acknowledged} of {self.count}"


def failure_of(error: KafkaError | None, where: str, together: int) -> PublishError:
    """Say what a report of this error means; None stands for one without an offset."""
    if error is None:
        return PublishError(f"a message for {where} was acknowledged without an offset: it may be there or not")
    kind = RefusedError if error.code() in _REFUSALS else PublishError
    return kind(f"Kafka refused a message for {where}, one of {together} sent together: {error.str()}")
