"""A publisher of one shard, with producers of its own."""

import time
from contextlib import contextmanager

from cdc_bridge.kafka_publisher import Producers
from cdc_bridge.lineage import ShardKey

SHARD = ShardKey("followers", "arn", "shard")


@contextmanager
def publisher_to(kafka, clock=time.monotonic):
    """Have one that ends with the context, and its producers with it."""
    with Producers(kafka, clock) as producers, producers.publisher(SHARD) as publisher:
        yield publisher
