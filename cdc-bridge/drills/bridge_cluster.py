"""A real cluster of three brokers under load: leaders die, stand still and move, too few replicas are in sync.

Meanwhile shards roll over and bridges die; then what was written is compared with what is on Kafka.
"""

import os
import random
import signal
import time
from typing import Any

from confluent_kafka import ElectionType, KafkaException, TopicPartition
from confluent_kafka.admin import (  # type: ignore[attr-defined]
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ResourceType,
)

from murmuration_testkit.processes import kill, pause, resume
from murmuration_testkit.topics import admin
from murmuration_testkit.waiting import eventually

from .load import World, world

FAULTS = int(os.environ.get("FAULTS", "30"))
TOPIC = "FollowChanged"
BROKERS = ("kafka", "kafka-2", "kafka-3")
RECOVERED = 90.0


def cluster() -> dict[str, Any]:
    """Break the cluster, the bridges and the shards again and again; everything must be whole in the end."""
    with world() as here:
        names = [fault.__name__.strip("_").replace("_", " ") for fault in _CLUSTER_FAULTS]
        for number in range(FAULTS):
            fault = _CLUSTER_FAULTS[number % len(_CLUSTER_FAULTS)]
            eventually(_in_sync, 3, within=RECOVERED)
            time.sleep(random.uniform(0, 1))
            for more in random.sample([_roll_over, _kill_a_bridge, _nothing], 1):
                more(here)
            fault()
            print(f"    {number + 1}/{FAULTS} {names[number % len(names)]}", flush=True)
        eventually(_in_sync, 3, within=RECOVERED)
        return here.outcome(
            "three brokers", f"{FAULTS} x {', '.join(names)}, with shards rolling over and bridges killed"
        )


def _kill_a_leader() -> None:
    kill(_a_leader())


def _pause_a_leader() -> None:
    """For long enough that others lead its partitions, and it wakes up as if it still did."""
    leader = _a_leader()
    pause(leader)
    time.sleep(random.uniform(1, 4))
    resume(leader)


def _move_the_leaders() -> None:
    """Back to where they belong, after a death has left them elsewhere."""
    kill(_a_leader())
    eventually(_in_sync, 3, within=RECOVERED)
    places = [TopicPartition(TOPIC, partition.id) for partition in _partitions()]
    kafka = admin()
    if not _done(kafka.elect_leaders(ElectionType.PREFERRED, places)):
        print("    no election this time", flush=True)


def _too_few_in_sync() -> None:
    """Want three replicas in sync while one stands still: what is sent is refused, and accepted later."""
    _want_in_sync(3)
    quiet = random.choice(BROKERS)
    pause(quiet)
    try:
        eventually(lambda: _in_sync() < 3, within=30)
        time.sleep(random.uniform(0.5, 3))
    finally:
        resume(quiet)
        eventually(_in_sync, 3, within=RECOVERED)
        _want_in_sync(2)


def _roll_over(here: World) -> None:
    here.store.roll_over()


def _kill_a_bridge(here: World) -> None:
    bridge = random.choice(here.bridges)
    bridge.end(signal.SIGKILL)
    bridge.start()


def _nothing(_: World) -> None:
    """Let the fault come alone."""


def _partitions() -> Any:
    """Return the topic's partitions as some broker knows them; none while no broker answers."""
    try:
        kafka = admin()
        return kafka.list_topics(TOPIC, timeout=5).topics[TOPIC].partitions.values()
    except KafkaException:
        return []


def _in_sync() -> int:
    """Return how many replicas each partition has in sync, at least."""
    return min((len(partition.isrs) for partition in _partitions()), default=0)


def _a_leader() -> str:
    leaders = [partition.leader for partition in eventually(_partitions, within=RECOVERED) if partition.leader > 0]
    return BROKERS[random.choice(leaders) - 1]


def _want_in_sync(count: int) -> None:
    entry = ConfigEntry("min.insync.replicas", str(count), incremental_operation=AlterConfigOpType.SET)
    resource = ConfigResource(ResourceType.TOPIC, TOPIC, incremental_configs=[entry])

    def altered() -> bool:
        kafka = admin()
        (future,) = kafka.incremental_alter_configs([resource]).values()
        return _done(future)

    eventually(altered, within=RECOVERED)


def _done(future: Any) -> bool:
    try:
        future.result(10)
    except (KafkaException, TimeoutError):
        return False
    return True


_CLUSTER_FAULTS = [_kill_a_leader, _pause_a_leader, _move_the_leaders, _too_few_in_sync]
STACK = "kafka,kafka-2,kafka-3,dynamodb,redis,registry"
TIME_LIMIT_S = 5_400
DRILLS = [cluster]
