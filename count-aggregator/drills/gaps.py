"""What was lost before it was counted, under both policies: everybody's counts are right again, and nobody recounted.

A stream that is switched off and on leaves no trace of what was written between; a topic that is made again takes what
was not counted with it. Under `continue` nobody does anything; under `fail` an operator clears the gap.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from contracts.tables import FOLLOWERS, LEASES
from count_aggregator.bridge_progress import BridgeProgress
from count_aggregator.topic import TOPIC
from murmuration_testkit.ports import free_port
from murmuration_testkit.processes import control
from murmuration_testkit.topics import admin
from murmuration_testkit.waiting import eventually, remaining
from murmuration_testkit.worker import Worker

from .crowd import Crowd, client

LOST_S = 4.0  # for so long people write what nobody will hear of
SETTLED = 240.0


def gaps() -> list[dict[str, Any]]:
    """Lose a part of the follows, by each cause and under each policy."""
    control("stop", "cdc-bridge", "count-reconciler")
    try:
        return [
            _lose(policy, how) for policy in ("continue", "fail") for how in (_stream_made_again, _topic_made_again)
        ]
    finally:
        control("start", "cdc-bridge", "count-reconciler", "count-aggregator")


def _lose(policy: str, how: Callable[[], str]) -> dict[str, Any]:
    bridge = Worker("cdc_bridge", free_port(), "cdc-bridge-of-drill", GAP_POLICY=policy)
    bridge.start()
    log = Path(os.environ["STACK_DIR"]) / f"logs/reconciler-{policy}{how.__name__}.log"
    try:
        with _reconciler(log):
            with Crowd() as crowd:
                eventually(lambda: len(crowd.some(10)), 10, within=60)
                name = how()
                print(f"    {policy}: {name}", flush=True)
                eventually(lambda: [each for each in _progress().owed() if each.startswith(name)], within=120)
                ordered = "" if policy == "continue" else _clear(name)
                time.sleep(LOST_S)
            differences = remaining(lambda: [*crowd.differences(), *_progress().owed()], within=SETTLED)
    finally:
        bridge.end()
    runs = [json.loads(line) for line in log.read_text().splitlines()]
    repaired = sum(run.get("repaired", 0) for run in runs if run["message"] == "reconciled")
    if not repaired:
        differences.append("nothing was lost, so nothing is shown")
    _forget()
    return {
        "name": f"recount by itself after a gap: {how.__name__.strip('_').replace('_', ' ')}, policy {policy}",
        "faults": f"{name}; ordered by an operator: {ordered or 'nothing'}",
        "compared": f"both counts of each of {crowd.people} users with the rows",
        "differences": differences,
        "counts": f"{crowd.writes} rows written or deleted; {repaired} accounts repaired in {len(runs)} lines of log",
    }


@contextmanager
def _reconciler(log: Path) -> Iterator[None]:
    """Reconcile beside the stack, as its own reconciler does, but more often."""
    command = [sys.executable, "-m", "count_aggregator", "reconcile", "--every", "3", "--apart", "2", "--rate", "1000"]
    environment = {**os.environ, "ADMIN_PORT": str(free_port()), "HOST": "127.0.0.1"}
    with log.open("wb") as out:
        process = subprocess.Popen(command, env=environment, stderr=out)  # noqa: S603
        try:
            yield
        finally:
            process.terminate()
            process.wait(30)


def _stream_made_again() -> str:
    """Switch the stream of followers off and on."""
    _switch(on=False)
    time.sleep(LOST_S)
    _switch(on=True)
    return str(client().describe_table(TableName=FOLLOWERS.name)["Table"]["LatestStreamArn"])


def _switch(*, on: bool) -> None:
    stream: Any = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"} if on else {"StreamEnabled": False}
    client(attempts=3).update_table(TableName=FOLLOWERS.name, StreamSpecification=stream)


def _topic_made_again() -> str:
    """Take the topic away with what was published while nobody counted."""
    control("stop", "count-aggregator")
    time.sleep(LOST_S)
    kafka = admin()
    kafka.delete_topics([TOPIC.name])[TOPIC.name].result(10)
    eventually(lambda: TOPIC.name not in kafka.list_topics(timeout=5).topics, within=30)
    subprocess.run([sys.executable, "-m", "contracts", "apply"], stdout=subprocess.DEVNULL, check=True)
    control("start", "count-aggregator")
    return TOPIC.name


def _clear(name: str) -> str:
    """Clear the gap, as an operator does when it shows."""
    command = [sys.executable, "-m", "cdc_bridge", "clear", name]
    eventually(lambda: subprocess.run(command, capture_output=True, check=False).returncode, 0, within=60)  # noqa: S603
    return f"cdc_bridge clear {name}"


def _forget() -> None:
    """Clear what `continue` leaves to remind of the timelines, so that the next gap is a new one."""
    for partition in (LEASES.streams_of(FOLLOWERS.name), LEASES.topics()):
        pages = client().query(
            TableName=LEASES.name,
            KeyConditionExpression="stream_arn = :it",
            ExpressionAttributeValues={":it": {"S": partition}},
        )
        for item in pages["Items"]:
            if LEASES.gap in item:
                _clear(item[LEASES.shard_id]["S"])


def _progress() -> BridgeProgress:
    return BridgeProgress(client(attempts=3), "")


DRILLS = [gaps]
