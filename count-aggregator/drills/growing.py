"""FollowChanged moves to a topic with more partitions under load, by the runbook, with a bridge killed in between."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import contracts
from murmuration_testkit.ports import free_port
from murmuration_testkit.processes import caught_up, control, send
from murmuration_testkit.waiting import eventually, remaining
from murmuration_testkit.worker import Worker

from .crowd import Crowd
from .workers import TOPIC, Watch

PARTITIONS = 2 * TOPIC.partitions
LOAD_SECONDS = 10
SETTLED = 180.0
OLD = ("count-aggregator", "count-reconciler")


def growing() -> dict[str, Any]:
    """Write follows all the while; afterwards every count must equal the rows."""
    crowd = Crowd()
    with grown_contracts() as path, ExitStack() as stack:
        environment = {"PYTHONPATH": str(path)}
        bridge = Worker("cdc_bridge", free_port(), "grown-cdc-bridge", **environment)
        counting = Worker("count_aggregator", free_port(), "grown-count-aggregator", **environment)
        watch = Watch(counting.port)
        for end in (partial(control, "start", "cdc-bridge", *OLD), watch.end, counting.end, bridge.end):
            stack.callback(end)
        with crowd:
            time.sleep(LOAD_SECONDS)
            send("cdc-bridge", signal.SIGSTOP)  # so that stopping it becomes a kill -9, with pages not checkpointed yet
            control("stop", "cdc-bridge")
            caught_up("count-aggregator")
            control("stop", *OLD)
            apply = [sys.executable, "-m", "contracts", "apply"]
            subprocess.run(apply, env=os.environ | environment, check=True, capture_output=True)  # noqa: S603 - ours
            counting.start()
            bridge.start()
            eventually(lambda: watch.total("events_applied_total") > 0, True, within=SETTLED)
            time.sleep(LOAD_SECONDS)
        differences = remaining(crowd.differences, within=SETTLED)
        counted, repeats = watch.total("events_applied_total"), watch.total("events_repeated_total")
    if not repeats:
        differences.append("nothing lay in both topics, so nothing was proved: the bridge was killed at a checkpoint")
    return {
        "name": f"a topic grows from {TOPIC.partitions} to {PARTITIONS} partitions under load",
        "faults": "the bridge killed -9 before the move",
        "compared": f"both counts of each of {crowd.people} users with the rows",
        "differences": differences,
        "counts": f"{crowd.writes} rows written or deleted; of the new topic {counted} events counted, and {repeats} "
        "dropped that had been counted of the old one",
    }


@contextmanager
def grown_contracts() -> Iterator[Path]:
    """Give a folder with the contracts as they are after the growth, for PYTHONPATH."""
    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder) / "contracts"
        shutil.copytree(Path(contracts.__file__).parent, package)
        path = package / "data/topics/FollowChanged.yaml"
        now, grown = (
            f"\npartitions: {TOPIC.partitions}",
            f"\ngrown_from: [{TOPIC.partitions}]\npartitions: {PARTITIONS}",
        )
        assert now in path.read_text()
        path.write_text(path.read_text().replace(now, grown))
        yield Path(folder)


DRILLS = [growing]
