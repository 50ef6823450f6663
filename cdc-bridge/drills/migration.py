"""Bridges of 0.2.0, the last before it, and of today through the whole migration of the leases' key, under load.

Shards roll over and bridges are killed in each of its steps; then what was written against what is on Kafka.

FAULTS in the environment says how many faults in each step; 8 unless set.
"""

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from contracts.tables import LEASES, MIGRATIONS
from murmuration_testkit import REPOSITORY
from murmuration_testkit.dynamodb_local import DynamoDbLocal, dynamodb_local
from murmuration_testkit.released import Checkout, Release, checkout
from murmuration_testkit.waiting import eventually

from .bridges import Bridge
from .load import World, under_load

FAULTS = int(os.environ.get("FAULTS", "8"))
BETWEEN = (0.5, 3.0)
ALL_MOVED_S = 120.0
BEFORE = Release("cdc-bridge", "0.2.0", "9320e0f78fa4e029af149883a68c8d41dd44d4d6")


class Migration:
    """The steps as an operator does them, with faults in each."""

    def __init__(self, here: World, released: Checkout) -> None:
        self._here = here
        self._environment = {**os.environ, **here.store.environment}
        self._released = released
        self.done: Counter[str] = Counter()

    def step(self, *words: str) -> int:
        """Do one step; return its exit code."""
        return _tables(REPOSITORY, sys.executable, self._environment, *words)

    def faults(self, when: str, bridges: Sequence[Bridge]) -> None:
        """Roll shards over and kill bridges, these among them."""
        for number in range(FAULTS):
            time.sleep(random.uniform(*BETWEEN))
            name, fault = random.choice(
                [("rollover", self._roll_over), ("SIGKILL", self._kill), ("SIGTERM", self._end)]
            )
            fault(bridges)
            self.done[name] += 1
            print(f"    {number + 1}/{FAULTS} {when}: {name}", flush=True)

    def move_all(self) -> None:
        """Backfill until every row has moved: those that a bridge holds move when the next one takes them."""
        eventually(lambda: self.step("backfill", MIGRATIONS.SPREAD_LEASES) == 0, within=ALL_MOVED_S, every=1)

    def _roll_over(self, _: Sequence[Bridge]) -> None:
        self._here.store.roll_over()

    def _kill(self, bridges: Sequence[Bridge]) -> None:
        self._again(bridges, signal.SIGKILL)

    def _end(self, bridges: Sequence[Bridge]) -> None:
        self._again(bridges, signal.SIGTERM)

    def _again(self, bridges: Sequence[Bridge], number: signal.Signals) -> None:
        bridge = random.choice(bridges)
        bridge.end(number)
        time.sleep(random.uniform(0, 1))
        bridge.start()


def migration() -> dict[str, Any]:
    """Expand, deploy beside the released release, switch, backfill, end the released one, contract; and compare."""
    released = checkout(BEFORE)
    logs = Path(tempfile.mkdtemp(prefix="bridges-"))
    with dynamodb_local() as store, ExitStack() as stack:
        stack.callback(shutil.rmtree, logs)
        _make_as_released(store, released)

        def bridge(name: str, of: Checkout | None = None) -> Bridge:
            started = Bridge(logs / f"{name}.log", of, **store.environment).start()
            stack.callback(started.end, signal.SIGKILL)
            return started.until_ready()

        old = [bridge(f"released-{number}", released) for number in range(2)]
        with under_load(store, old) as here:
            steps = Migration(here, released)
            assert steps.step("expand") == 0
            steps.faults("the released release alone", old)
            new = [bridge("this")]
            here.bridges = [*old, *new]
            steps.faults("both, before the switch", here.bridges)
            assert steps.step("switch", MIGRATIONS.SPREAD_LEASES) == 1  # it says what to see to
            assert steps.step("switch", MIGRATIONS.SPREAD_LEASES, "--yes") == 0
            steps.faults("both, after the switch", here.bridges)
            steps.step("backfill", MIGRATIONS.SPREAD_LEASES)  # what is held stays
            steps.faults("both, while rows lie in both places", here.bridges)
            for each in old:
                each.end()
            new.append(bridge("this-too"))
            here.bridges = new
            for each in new:
                each.end()
                each.start()
            steps.move_all()
            steps.faults("this one alone, all rows moved", new)
            assert steps.step("contract", MIGRATIONS.SPREAD_LEASES, "--yes") == 0
            steps.faults("this one alone, after contract", new)
            counted = ", ".join(f"{count} x {name}" for name, count in sorted(steps.done.items()))
            outcome = here.outcome("released beside this through a migration", counted)
            outcome["differences"] += _left_behind(store)
            return outcome


def _make_as_released(store: DynamoDbLocal, released: Checkout) -> None:
    """Have all tables as the released release made them: it refuses to start beside later ones."""
    client = store.client()
    for name in client.list_tables()["TableNames"]:
        client.delete_table(TableName=name)
    assert _tables(released.directory, str(released.python), {**os.environ, **store.environment}) == 0


def _tables(directory: Path, python: str, environment: dict[str, str], *words: str) -> int:
    command = [python, str(directory / "deploy/tables.py"), *words]
    done = subprocess.run(  # noqa: S603
        command,
        cwd=directory,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.stderr:
        print(f"    {done.stderr.strip()}", flush=True)
    return done.returncode


def _left_behind(store: DynamoDbLocal) -> list[str]:
    """Name every row of a shard that lies in the old place still."""
    rows = store.client().scan(TableName=LEASES.name, ConsistentRead=True)["Items"]
    places = [row[LEASES.stream_arn]["S"] for row in rows]
    return [f"a row lies in the old place: {place}" for place in places if "/stream/" in place and "#" not in place]


STACK = "kafka,dynamodb,redis,registry"
TIME_LIMIT_S = 3_600
DRILLS = [migration]
