"""Aggregators, bridge and stores broken at random under load; then every user's both counts must equal the rows."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

from count_aggregator.ledger import Ledger
from count_aggregator.topic import PARTITION_IDS
from murmuration_testkit.processes import all_ready, caught_up, control, freeze, pause, resume, send
from murmuration_testkit.waiting import remaining
from murmuration_testkit.worker import Worker

from .crowd import Crowd, client
from .workers import Watch, events, redeliver_the_last_hour, second_aggregator

BETWEEN = (0.3, 1.5)  # seconds from one fault to the next
SETTLED = 180.0
CALM_S = 0.1  # between two writes: who compares waits until the aggregator has caught up, on a busy machine, too
BRIDGE_DOWN_S = 60
CHECKED = 60
CORRUPTED = 20


def _faults(second: Worker, redelivered: list[int]) -> list[tuple[str, Callable[[], object]]]:
    first = partial(send, "count-aggregator")

    def both(number: signal.Signals) -> None:
        first(number)
        second.signal(number)

    def in_mid_batch() -> None:
        """Hold the write up for longer than a commit takes, so that what was acknowledged too early is lost."""
        pause("dynamodb")
        time.sleep(3)
        both(signal.SIGKILL)
        resume("dynamodb")

    def leave_and_return() -> None:
        second.stop()
        time.sleep(2)
        second.start()

    def store(name: str) -> list[tuple[int, str, Callable[[], object]]]:
        return [
            (4, f"kill -9 {name}", partial(send, name, signal.SIGKILL)),
            (3, f"SIGSTOP 2 s {name}", partial(freeze, partial(send, name), 2)),
        ]

    kinds: list[tuple[int, str, Callable[[], object]]] = [
        (5, "kill -9 first aggregator", partial(first, signal.SIGKILL)),
        (5, "kill -9 second aggregator", partial(second.signal, signal.SIGKILL)),
        (4, "kill -9 both aggregators", partial(both, signal.SIGKILL)),
        (3, "kill -9 both aggregators in mid-batch", in_mid_batch),
        (4, "SIGTERM first aggregator", partial(first, signal.SIGTERM)),
        (3, "SIGTERM both aggregators", partial(both, signal.SIGTERM)),
        (4, "SIGSTOP 2 s one aggregator", partial(freeze, first, 2)),
        (2, "SIGSTOP 2 s both aggregators", partial(freeze, both, 2)),
        (2, "SIGSTOP 13 s second aggregator, longer than its session", partial(freeze, second.signal, 13)),
        (3, "second aggregator leaves and returns", leave_and_return),
        (2, "redelivery of the last hour", lambda: redelivered.append(redeliver_the_last_hour(second))),
        *store("cdc-bridge"),
        *store("kafka"),
        *store("dynamodb"),
    ]
    return [(name, fault) for count, name, fault in kinds for _ in range(count)]


def counts() -> dict[str, Any]:
    """Break something every second while people follow and unfollow, let the dust settle, and compare."""
    crowd, second, redelivered = Crowd(), second_aggregator(), [0]
    watch = Watch(int(os.environ["COUNT_AGGREGATOR_ADMIN_PORT"]), second.port)
    faults = _faults(second, redelivered)
    random.shuffle(faults)
    before = events()
    second.start()
    try:
        with crowd:
            for number, (name, fault) in enumerate(faults, 1):
                time.sleep(random.uniform(*BETWEEN))
                print(f"    {number}/{len(faults)} {name}", flush=True)
                fault()
        all_ready(within=SETTLED)
        differences = _settled(crowd)
        redelivered.append(redeliver_the_last_hour(second))
        all_ready(within=SETTLED)
        caught_up("count-aggregator")
        differences += _settled(crowd)
    finally:
        second.end()
        watch.end()
    done = Counter(name for name, _ in faults)
    return {
        "name": f"counts after {len(faults)} random faults under load",
        "faults": ", ".join(f"{count} x {name}" for name, count in done.items()),
        "compared": f"both counts of each of {crowd.people} users with the rows",
        "differences": differences
        + [f"vanished: {gap}" for gap in Ledger(client(), "", 0).open_gaps(PARTITION_IDS).items()],
        "counts": f"{crowd.writes} rows written or deleted, {events() - before} events, {sum(redelivered)} delivered"
        f" again on purpose; in {watch.lives} lives of aggregators at least {watch.total('events_repeated_total')}"
        f" repeats dropped and {watch.total('conflicts_total')} transactions overtaken",
    }


def recount() -> dict[str, Any]:
    """Recount people while the bridge is down for a minute, then corrupt some counts and recount under load."""
    differences = []
    with Crowd(CALM_S) as crowd:
        time.sleep(3)
        control("stop", "cdc-bridge")
        time.sleep(1)
        began = time.monotonic()
        healthy = _reconcile(crowd.some(CHECKED))
        time.sleep(BRIDGE_DOWN_S)
        if healthy.poll() is not None:
            differences.append(f"it did not wait for the bridge: {healthy.communicate()}")
    control("start", "cdc-bridge")
    found = json.loads(healthy.communicate(timeout=SETTLED)[0])
    waited = time.monotonic() - began
    if found["drifted"] or found["busy"]:
        differences.append(f"a healthy system: {found}")
    differences += _settled(crowd)

    with Crowd(CALM_S) as later:
        time.sleep(3)
        victims = crowd.some(CORRUPTED)
        for user in victims:
            client().update_item(
                TableName="users",
                Key={"user_id": {"S": user}},
                UpdateExpression="ADD followers_count :by, following_count :by",
                ExpressionAttributeValues={":by": {"N": str(random.choice([-1000, -3, 1, 500]))}},
            )
        repaired = json.loads(_reconcile([*victims, *later.some(CHECKED)]).communicate(timeout=SETTLED)[0])
    if repaired["repaired"] != len(victims):
        differences.append(f"{len(victims)} corrupted: {repaired}")
    differences += _settled(crowd) + _settled(later)
    return {
        "name": "recount with the bridge down, and of corrupted counts under load",
        "faults": f"bridge down for {BRIDGE_DOWN_S} s, {len(victims)} accounts corrupted",
        "compared": f"both counts of each of {crowd.people + later.people} users with the rows",
        "differences": differences,
        "counts": f"with the bridge down it waited {waited:.0f} s and reported {found}; under load {repaired}",
    }


def _reconcile(users: list[str]) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "count_aggregator", "reconcile", "--rate", "500", "--apart", "1", "--user", *users]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)  # noqa: S603


def _settled(crowd: Crowd) -> list[str]:
    """Return what still differs after a while."""
    return remaining(crowd.differences, within=SETTLED)


DRILLS = [counts, recount]
