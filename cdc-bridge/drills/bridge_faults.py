"""Each fault twenty times under load, at random moments; then what was written against what is on Kafka."""

import os
import random
import signal
import time
from collections.abc import Callable
from typing import Any

from murmuration_testkit.processes import kill
from murmuration_testkit.waiting import eventually

from .bridges import Bridge
from .load import World, world

FAULTS = int(os.environ.get("FAULTS", "20"))
OPEN_SHARDS = 2  # one for each table


def _under_load(name: str, fault: Callable[[World], object], between: tuple[float, float], after: str = "") -> Any:
    """Break it again and again; everything must be whole and the bridges ready in the end."""

    def drill() -> dict[str, Any]:
        with world() as here:
            for number in range(FAULTS):
                time.sleep(random.uniform(*between))
                fault(here)
                print(f"    {number + 1}/{FAULTS} {name}", flush=True)
            return here.outcome(name, f"{FAULTS} x {name}{after}")

    drill.__name__ = name
    return drill


def _roll_over(here: World) -> None:
    here.store.roll_over()


def _expire_iterators(here: World) -> None:
    """Let an hour pass: less than a day in all, so that nothing is trimmed."""
    here.store.pass_hours(1)


def _kill_one(here: World) -> None:
    """Half the time in the middle of a page, on its way to a Kafka that was killed a moment before."""
    if random.random() < 0.5 and kill("kafka"):
        time.sleep(random.uniform(0.3, 1))
    bridge = random.choice([bridge for bridge in here.bridges if _held(bridge)] or here.bridges)
    bridge.end(signal.SIGKILL)
    time.sleep(random.uniform(0, 1))
    bridge.start()


def _freeze_one(here: World) -> None:
    """Until the other has all leases; then it wakes up in the middle of what it did."""
    eventually(lambda: sum(map(_held, here.bridges)) >= OPEN_SHARDS, within=60)
    frozen, other = random.sample(here.bridges, 2)
    frozen.send(signal.SIGSTOP)
    try:
        eventually(lambda: _held(other) >= OPEN_SHARDS, within=60)
    finally:
        frozen.send(signal.SIGCONT)


def _held(bridge: Bridge) -> float:
    return bridge.metric("cdc_bridge_leases_held")


def _kill_kafka(_: World) -> None:
    kill("kafka")


def _kill_registry(here: World) -> None:
    """Half the time with a bridge that has to start without it."""
    kill("registry")
    if random.random() < 0.5:
        _kill_one(here)


def _kill_dynamodb(here: World) -> None:
    here.store.kill()
    time.sleep(random.uniform(0, 2))
    here.store.start()


STACK = "kafka,dynamodb,redis,registry"
TIME_LIMIT_S = 5_400
DRILLS = [
    _under_load("forced shard rollover", _roll_over, (0.5, 2.5)),
    _under_load("iterators expired", _expire_iterators, (0.5, 2.5)),
    _under_load("kill -9 of one of two bridges", _kill_one, (0.5, 3), ", half of them with a page on its way"),
    _under_load("SIGSTOP of one bridge until its leases are taken, then SIGCONT", _freeze_one, (0.2, 1.5)),
    _under_load("Kafka killed", _kill_kafka, (3, 7)),
    _under_load("registry killed", _kill_registry, (1, 5), ", half the time with a bridge"),
    _under_load("DynamoDB killed", _kill_dynamodb, (0.5, 3)),
]
