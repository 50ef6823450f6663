"""A publisher of one shard, with producers of its own; and what came of it to a real Kafka."""

import os
import time
import uuid
from contextlib import contextmanager

from confluent_kafka import Consumer, TopicPartition

from cdc_bridge.kafka_publisher import Producers
from cdc_bridge.lineage import ShardKey
from murmuration_testkit.waiting import eventually

LIMIT = 950_000  # bytes of a batch that a test's own topic takes
SHARD = ShardKey("followers", "arn", "shard")


@contextmanager
def publisher_to(kafka, clock=time.monotonic):
    """Have one that ends with the context, and its producers with it."""
    with Producers(kafka, clock) as producers, producers.publisher(SHARD) as publisher:
        yield publisher


def arrived(topic):
    """Return the numbers that lie in each partition."""
    consumer = Consumer({"bootstrap.servers": os.environ["KAFKA_BOOTSTRAP_SERVERS"], "group.id": uuid.uuid4().hex})
    found = {0: [], 1: []}
    places = [TopicPartition(topic, partition, 0) for partition in found]
    ends = sum(consumer.get_watermark_offsets(place, 10)[1] for place in places)
    consumer.assign(places)

    def look():
        for message in consumer.consume(500, 0.05):
            found[message.partition()].append(int(dict(message.headers())["n"]))
        return sum(map(len, found.values())) >= ends

    eventually(look)
    consumer.close()
    return found
