"""A worker of one's own, from Kafka to the lists, and the events that it gets."""

import itertools
import os
import time
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache

from confluent_kafka import Producer

from contracts import TOPICS, Codec, FollowChanged, Source, TweetCreated
from contracts.registry import codec_for
from murmuration_runtime.kafka_connection import KafkaSettings
from murmuration_runtime.settings import read
from murmuration_testkit.ports import free_port
from murmuration_testkit.probes import get, metric
from murmuration_testkit.topics import skip
from murmuration_testkit.waiting import eventually
from murmuration_testkit.worker import Worker

TWEETS = TOPICS["TweetCreated"]
_ids = itertools.count(time.time_ns())
_shard = f"bench-{uuid.uuid4().hex}"


class Live:
    """The worker while it runs."""

    def __init__(self, port: int) -> None:
        self._port = port

    def delivered(self, event: str) -> float:
        """Return how many events of a kind it has brought into Redis."""
        status, text = get(f"http://127.0.0.1:{self._port}/metrics")
        wanted = f'fanout_worker_events_delivered_total{{event="{event}"}}'
        return sum(float(line.split()[1]) for line in text.splitlines() if status and line.startswith(wanted))

    def behind(self) -> float:
        """Return how many messages it had still to handle when it last looked."""
        return metric(self._port, "worker_events_behind")


@contextmanager
def live_worker(**environment: str) -> Iterator[Live]:
    """Run one for as long as the context lasts, with these variables."""
    port = free_port()
    worker = Worker("fanout_worker", port, f"bench-fanout-worker-{port}", **environment)
    worker.start()
    try:
        eventually(lambda: get(f"http://127.0.0.1:{port}/readyz")[0], 200, within=60)
        yield Live(port)
    finally:
        worker.end()


def forget() -> None:
    """Have no events left for a worker that begins."""
    for topic in TOPICS.values():
        if "fanout-worker" in topic.consumers:
            skip("fanout-worker", topic.name)


def tweet(author: str, partitions: Iterable[int] = range(TWEETS.partitions)) -> TweetCreated:
    """Let somebody say something, with an id that lies in one of these partitions."""
    tweet_id = next(each for each in map(str, _ids) if TWEETS.partition(each) in partitions)
    return TweetCreated(f"t-{tweet_id}", _source(), tweet_id, author, "hello", time.time_ns() // 1_000_000)


def follow(follower: str, followee: str) -> FollowChanged:
    """Let somebody follow somebody."""
    source = _source()
    return FollowChanged(
        f"f-{source.sequence_number}", source, follower, followee, following=True, occurred_at=time.time_ns() // 10**6
    )


def publish(*events: TweetCreated | FollowChanged) -> None:
    """Publish events, and return when Kafka has them."""
    producer = _producer()
    for event in events:
        topic = TOPICS[type(event).__name__]
        key = topic.key(event)
        value, headers = _codec(topic.name).encode(event), dict[str, str | bytes | None](topic.headers(event))
        while True:
            try:
                producer.produce(topic.name, value, key, topic.partition(key), headers=headers)
                break
            except BufferError:
                producer.poll(0.1)
    if producer.flush(60):
        raise TimeoutError("Kafka did not take all events")


def _source() -> Source:
    return Source(_shard, next(_ids))


@cache
def _producer() -> Producer:
    return Producer(read(KafkaSettings).librdkafka(**{"linger.ms": 5}))


@cache
def _codec(topic: str) -> Codec:
    return codec_for(TOPICS[topic], os.environ["SCHEMA_REGISTRY_URL"])
