"""A topic filled with events, workers that read it, and what they measure of themselves."""

import os
import time
import uuid
from collections.abc import Callable

from confluent_kafka import Producer

from contracts import TOPICS, FollowChanged, Source
from contracts.registry import codec_for
from murmuration_runtime.kafka_connection import KafkaSettings
from murmuration_runtime.settings import read
from murmuration_testkit.probes import metric

TOPIC = TOPICS["FollowChanged"]
Pair = Callable[[int], tuple[str, str]]  # follower and followee of the nth event


def ordinary(mark: str) -> Pair:
    """Everybody follows somebody else: no two events have a user in common."""
    return lambda n: (f"{mark}-a{n}", f"{mark}-b{n}")


def viral(mark: str) -> Pair:
    """Half follow one of twelve stars, which lie wherever their keys fall; half are ordinary."""
    return lambda n: (f"{mark}-a{n}", f"{mark}-star{n % 24 // 2}" if n % 2 else f"{mark}-b{n % 50}")


def togglers(mark: str) -> Pair:
    """Have a few hundred people do all of it."""
    return lambda n: (f"{mark}-a{n % 300}", f"{mark}-b{n % 200}")


def fill(pair: Pair, count: int) -> None:
    """Publish events of one new shard."""
    codec = codec_for(TOPIC, os.environ["SCHEMA_REGISTRY_URL"])
    producer = Producer(read(KafkaSettings).librdkafka(**{"linger.ms": 50, "enable.idempotence": True}))
    shard = f"bench-{uuid.uuid4().hex}"
    for number in range(count):
        follower, followee = pair(number)
        event = FollowChanged(
            f"e{number}", Source(shard, number + 1), follower, followee, following=True, occurred_at=None
        )
        key = TOPIC.key(event)
        while True:
            try:
                producer.produce(
                    TOPIC.name, codec.encode(event), key, TOPIC.partition(key), headers=[*TOPIC.headers(event)]
                )
                break
            except BufferError:
                producer.poll(0.1)
    producer.flush()


def drained(
    ports: list[int], count: int, within: float, look: Callable[[float], None] = lambda _: None
) -> dict[str, float]:
    """Wait until the workers have counted all; return rates between a tenth of it and the last look before its end."""

    def total(name: str) -> float:
        return sum(metric(port, f"count_aggregator_{name}_total") for port in ports)

    began: tuple[float, float, float] | None = None
    deadline = time.monotonic() + within
    while time.monotonic() < deadline:
        now, events, actions = time.monotonic(), total("events_applied"), total("actions_written")
        look(events)
        if began is None and events >= count / 10:
            began = now, events, actions
        if began is not None and events >= count * 0.9:
            took = now - began[0]
            return {"events": (events - began[1]) / took, "actions": (actions - began[2]) / took}
        time.sleep(0.1)
    raise TimeoutError(f"{total('events_applied'):.0f} of {count} events counted after {within} s")
