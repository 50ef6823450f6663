"""Kafka's topics turn against us: records that are refused for ever, and a topic that is made again under a bridge."""

import os
import random
import subprocess
import sys
import time
import uuid
from typing import Any

from murmuration_testkit.topics import Tap, admin, largest_batch
from murmuration_testkit.waiting import eventually

from .bridges import Bridge
from .load import World, world

FAULTS = int(os.environ.get("FAULTS", "20"))
TOPIC = "FollowChanged"
ENOUGH_FOR_ONE = 1500  # bytes; the limit judges batches, so of small events a few at once
TOO_LONG = 2000


def refusals() -> dict[str, Any]:
    """Write rows whose events Kafka never takes: they are dead letters, and nothing else is missing."""
    with world() as here, largest_batch(TOPIC, ENOUGH_FOR_ONE):
        letters = Tap(f"{TOPIC}.dlq")
        refused = set()
        for number in range(FAULTS):
            time.sleep(random.uniform(0.1, 1))
            refused.add(_write_too_long(here))
            print(f"    {number + 1}/{FAULTS} refused by Kafka", flush=True)
        outcome = here.outcome("refused by Kafka", f"{FAULTS} rows whose events are over max.message.bytes")
        found = {dict(letter.headers())["followee_id"].decode() for letter in letters.read(5)}
        letters.close()
        outcome["differences"] += [f"no dead letter for {key[-40:]}" for key in refused - found]
        outcome["differences"] += [f"a dead letter for {key[-40:]}, which Kafka takes" for key in found - refused]
        return outcome


def made_again() -> dict[str, Any]:
    """Delete and create the topic while bridges are up: told, held up until an operator clears it, then all goes on."""
    with world() as here:
        found = []
        for number in range(FAULTS):
            time.sleep(random.uniform(0.2, 1))
            with here.load.resting():
                here.collect()
                _make_again()
                found += _told_and_cleared(here)
                here.tap.close()
                here.tap = Tap(TOPIC)
            print(f"    {number + 1}/{FAULTS} topic made again", flush=True)
        outcome = here.outcome("topic made again", f"{FAULTS} x {TOPIC} deleted and created while nothing was written")
        outcome["differences"] += found
        return outcome


def _write_too_long(here: World) -> str:
    key = f"{'long' * (TOO_LONG // 4)}-{uuid.uuid4().hex}"
    item = {"followee_id": {"S": key}, "follower_id": {"S": "fan"}, "followed_at": {"N": "1"}}
    here.store.client().put_item(TableName="followers", Item=item)
    return key


def _make_again() -> None:
    kafka = admin()
    kafka.delete_topics([TOPIC])[TOPIC].result(10)
    eventually(lambda: TOPIC not in kafka.list_topics(timeout=5).topics, within=30)
    subprocess.run([sys.executable, "-m", "contracts", "apply"], stdout=subprocess.DEVNULL, check=True)


def _told_and_cleared(here: World) -> list[str]:
    """Wait until each bridge has stopped because of the gap, and clear it; say what was not as it should be."""
    eventually(lambda: all(map(_has_stopped, here.bridges)), within=60)
    listed = here.bridges[0].command("shards")
    here.bridges[0].command("clear", TOPIC)
    eventually(lambda: not any(bridge.metric("cdc_bridge_publishing_stopped") for bridge in here.bridges), within=60)
    return [] if f"topic  {TOPIC}  gap  GAP topic: its id is now" in listed else [f"no gap of {TOPIC} in: {listed}"]


def _has_stopped(bridge: Bridge) -> bool:
    return bridge.metric("cdc_bridge_publishing_stopped") == 1 and bridge.metric("cdc_bridge_leases_held") == 0


STACK = "kafka,dynamodb,redis,registry"
DRILLS = [refusals, made_again]
