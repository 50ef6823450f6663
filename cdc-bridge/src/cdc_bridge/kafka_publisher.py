"""Where shards get what publishes them: a few producers for all shards of a process.

Rule: a publisher stays with one producer. When that ends, so does every publisher of it; its shards begin again at
their checkpoints, with publishers of a new one.
"""

import threading
import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self
from zlib import crc32

from cdc_bridge.kafka_batches import POLL_SECONDS, Batch, PublishError, RefusedError, Sender
from cdc_bridge.kafka_producer import SharedProducer
from cdc_bridge.lineage import ShardKey
from cdc_bridge.message import Message
from contracts import TOPICS
from murmuration_runtime.kafka_connection import KafkaSettings

__all__ = ["Batch", "Producers", "PublishError", "Publisher", "RefusedError"]

PRODUCERS = 2  # for each table: what is wrong with the topics of one harms no other
LARGEST = min(topic.max_message_bytes for topic in TOPICS.values())  # of a batch as Kafka stores it
_ALONE = "", 0


class Publisher:
    """Publishes one shard, in order; a context, after whose end nothing more of it is begun."""

    def __init__(self, producer: SharedProducer, alone: Callable[[Message, Callable[[], bool]], None]) -> None:
        self._producer = producer
        self._alone = alone
        self._sender = Sender()

    def publish(self, messages: Sequence[Message], given_up: Callable[[], bool] = lambda: False) -> None:
        """Return when Kafka has acknowledged every message, in order; wait while it is away, unless given up."""
        try:
            self.begin(messages).wait(given_up)
        except PublishError as error:
            self.withdraw(error)
            raise

    def begin(self, messages: Sequence[Message]) -> Batch:
        """Send these behind all that was begun before, and return at once; whatever fails is raised by Batch.wait."""
        batch = Batch(self._sender, messages, self._producer.now())
        for message in messages:
            if message.size > LARGEST:
                where = f"{message.topic} [{message.partition}]"
                text = f"a message for {where} has {message.size} bytes; at most {LARGEST} are allowed: too large"
                self.withdraw(RefusedError(text))
        self._producer.begin(batch, messages)
        return batch

    def publish_alone(self, message: Message, given_up: Callable[[], bool] = lambda: False) -> None:
        """Publish one message that shares no request with any other, so that a refusal is its own."""
        self._alone(message, given_up)

    def withdraw(self, error: PublishError | None = None) -> None:
        """Send nothing more of what was begun, but what is under way already; it may arrive, as repeats."""
        self._producer.withdraw(self._sender, error or PublishError("withdrawn: the shard is left"))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, at: TracebackType | None) -> None:
        self.withdraw()


class Producers:
    """The producers of one process, each made when a shard needs it; a context. Safe among threads."""

    def __init__(self, kafka: KafkaSettings, clock: Callable[[], float] = time.monotonic) -> None:
        self._kafka = kafka
        self._clock = clock
        self._lock = threading.Lock()
        self._alone = threading.Lock()
        self._running: dict[tuple[str, int], SharedProducer] = {}

    def publisher(self, shard: ShardKey) -> Publisher:
        """Return a publisher for one shard."""
        return Publisher(self._shared((shard.table, crc32(shard.shard_id.encode()) % PRODUCERS)), self._publish_alone)

    def close(self) -> None:
        """End them all."""
        with self._lock:
            running, self._running = [*self._running.values()], {}
        for producer in running:
            producer.end(PublishError("the bridge ends"))
        for producer in running:
            producer.join()

    def _shared(self, place: tuple[str, int]) -> SharedProducer:
        with self._lock:
            producer = self._running.get(place)
            if producer is None or producer.fault is not None:
                producer = self._running[place] = SharedProducer(self._kafka, LARGEST, self._clock)
            return producer

    def _publish_alone(self, message: Message, given_up: Callable[[], bool]) -> None:
        """Publish with a producer that has nothing else under way; one after the other, for all shards."""
        while not self._alone.acquire(timeout=POLL_SECONDS):
            if given_up():
                raise PublishError("given up while a message of another shard was published alone")
        try:
            producer = self._shared(_ALONE)
            try:
                with Publisher(producer, self._publish_alone) as publisher:
                    publisher.publish([message], given_up)
            except PublishError as error:
                producer.end(error)
                raise
        finally:
            self._alone.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, at: TracebackType | None) -> None:
        self.close()
