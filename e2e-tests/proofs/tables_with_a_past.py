"""100,000 edges that no stream told of, people who go on meanwhile, and `tables.py adopt`, killed half-way.

EDGES in the environment says how many; 100000 unless set.
"""

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from contracts.table_files import load
from contracts.topic import DATA
from murmuration_testkit import REPOSITORY
from murmuration_testkit.people import Person
from murmuration_testkit.processes import all_ready, caught_up, control
from murmuration_testkit.waiting import remaining

EDGES = int(os.environ.get("EDGES", "100000"))
EACH_FOLLOWS = 25
BATCH = 25  # items of one BatchWriteItem
LOADERS = 4
READERS = 20  # people whose timelines are compared
BETWEEN_WRITES_S = 0.1
APART_S = 15
SETTLED_S = 120.0
TIME_LIMIT_S = 2_400
ADOPT = [sys.executable, "deploy/tables.py", "adopt"]
ADOPT += ["--counts", f"{sys.executable} -m count_aggregator reconcile --all --rate 500 --apart {APART_S}"]


class World:
    """Edges in the table, some of them of people who tweet and read."""

    def __init__(self) -> None:
        self.dynamodb = boto3.client("dynamodb", config=Config(max_pool_connections=32))
        self.readers = [Person(f"Reader {number}").join() for number in range(READERS)]
        self.mark = f"past-{uuid.uuid4().hex[:8]}"
        self.people = [f"{self.mark}-{number}" for number in range(EDGES // EACH_FOLLOWS)]
        self.people += [reader.user_id for reader in self.readers]
        self.edges: set[tuple[str, str]] = set()
        self.tweets: dict[str, set[str]] = defaultdict(set)
        self.done: Counter[str] = Counter()
        self._over = threading.Event()
        self._thread = ThreadPoolExecutor(1)
        self._live: Future[None] | None = None

    def load(self) -> None:
        """Write the past: who follows whom, with nobody to tell of it."""
        for number, follower in enumerate(self.people):
            others = random.sample(self.people, EACH_FOLLOWS + 1)
            self.edges |= {(other, follower) for other in others if other != follower}
            if number % 1000 == 0:
                self.tweet(random.choice(self.readers))
        rows = [_row(*edge) for edge in sorted(self.edges)]
        batches = [rows[start : start + BATCH] for start in range(0, len(rows), BATCH)]
        with ThreadPoolExecutor(LOADERS) as threads:
            for _ in threads.map(self._write_batch, batches):
                pass

    def start(self) -> None:
        """Have people go on."""
        self._live = self._thread.submit(self._live_on)

    def stop(self) -> None:
        """Have them end what they are doing."""
        self._over.set()
        if self._live:
            self._live.result()

    def tweet(self, author: Person) -> None:
        """Say something once."""
        key = {"Idempotency-Key": uuid.uuid4().hex}
        said = author.insist("POST", "/v1/tweets", json={"text": f"proof {key}"}, headers=key)
        self.tweets[author.user_id].add(said["tweet_id"])
        self.done["tweets"] += 1

    def wrong_counts(self) -> list[str]:
        """Name everybody whose counts are not their rows, and each edge that is not as it was left."""
        rows = {(row["followee_id"]["S"], row["follower_id"]["S"]) for row in self._scan("followers")}
        found = [f"{edge} should be there" for edge in self.edges - rows]
        found += [f"{edge} should be gone" for edge in rows - self.edges]
        followers, following = Counter(edge[0] for edge in rows), Counter(edge[1] for edge in rows)
        counts = {row["user_id"]["S"]: row for row in self._scan("users")}
        for user in sorted({*counts, *followers, *following}):
            names = ("followers_count", "following_count")
            have = tuple(int(counts.get(user, {}).get(name, {"N": "0"})["N"]) for name in names)
            if have != (followers[user], following[user]):
                found.append(f"{user}: counts {have}, rows {(followers[user], following[user])}")
        self.done["accounts compared"] = len({*counts, *followers, *following})
        return found

    def wrong_timelines(self) -> list[str]:
        """Name every reader whose timeline is not what those whom they follow have said."""
        found = []
        for reader in self.readers:
            me = reader.user_id
            authors = {followee for followee, follower in self.edges if follower == me} | {me}
            truth = sorted((tweet for author in authors for tweet in self.tweets[author]), reverse=True)
            if (shown := reader.whole_timeline()) != truth:
                found.append(f"{me}: {len(shown)} tweets, not {len(truth)}")
        return found

    def _live_on(self) -> None:
        """Follow, unfollow (mostly whom they followed in the past) and tweet."""
        old = random.sample(sorted(self.edges), min(len(self.edges), 20_000))
        while not self._over.wait(BETWEEN_WRITES_S):
            match random.randrange(4):
                case 0:
                    self.tweet(random.choice(self.readers))
                case 1 if old:
                    followee, follower = old.pop()
                    row = _row(followee, follower)
                    del row["followed_at"]
                    _insist(partial(self.dynamodb.delete_item, TableName="followers", Key=row))
                    self.edges.discard((followee, follower))
                    self.done["unfollows"] += 1
                case _:
                    edge = random.choice(self.people), random.choice(self.people)
                    if edge[0] != edge[1]:
                        _insist(partial(self.dynamodb.put_item, TableName="followers", Item=_row(*edge)))
                        self.edges.add(edge)
                        self.done["follows"] += 1

    def _write_batch(self, rows: list[Any]) -> None:
        left: Any = {"followers": [{"PutRequest": {"Item": row}} for row in rows]}
        while left:
            left = self.dynamodb.batch_write_item(RequestItems=left)["UnprocessedItems"]

    def _scan(self, table: str) -> Iterator[Any]:
        for page in self.dynamodb.get_paginator("scan").paginate(TableName=table, ConsistentRead=True):
            yield from page["Items"]


def _insist(write: Callable[[], object]) -> None:
    """Write until it is answered: DynamoDB Local may fail while it makes an index."""
    while True:
        with suppress(BotoCoreError, ClientError):
            write()
            return
        time.sleep(BETWEEN_WRITES_S)


def tables_with_a_past() -> dict[str, Any]:
    """Load the edges into a table without a stream; adopt it while people go on, kill that, adopt again; compare."""
    _keep_in_memory()
    world = World()
    for reader in world.readers:
        reader.timeline()
    control("stop", "cdc-bridge")
    _forget_the_stream(world.dynamodb)
    began = time.monotonic()
    world.load()
    loaded_s = time.monotonic() - began
    print(f"    {len(world.edges)} edges in {loaded_s:.0f} s", flush=True)
    control("start", "cdc-bridge")
    world.start()
    try:
        killed = _adopt_until(world, "counts: running")
        began = time.monotonic()
        again = subprocess.run(ADOPT, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True, check=False)
        seconds = time.monotonic() - began
        print(again.stdout, flush=True)
        time.sleep(5)
    finally:
        world.stop()
    all_ready()
    for group in ("count-aggregator", "fanout-worker"):
        caught_up(group)
    differences = remaining(world.wrong_counts, within=SETTLED_S)
    differences += remaining(world.wrong_timelines, within=SETTLED_S)
    if again.returncode:
        differences.append(f"tables.py adopt ended with {again.returncode}")
    if "bridge: done before" not in again.stdout:
        differences.append("the second run began at the beginning")
    done = f"{json.dumps(world.done)}; second run {seconds:.0f} s"
    return {
        "name": f"tables.py adopt on {EDGES} edges from before their stream",
        "faults": f"kill -9 of its first run after {killed!r}; follows, unfollows and tweets meanwhile",
        "compared": "the counts of all accounts with the rows, the rows with what was written, and the whole "
        f"timelines of {READERS} people with what those whom they follow have said",
        "differences": differences,
        "counts": f"{len(world.edges)} edges, loaded in {loaded_s:.0f} s; {done}",
    }


def _keep_in_memory() -> None:
    """Have DynamoDB keep everything in memory: on disk the load alone would take four times as long."""
    conf = Path(os.environ["STACK_SUPERVISOR_CONF"])
    text = conf.read_text()
    conf.write_text(text.replace("-dbPath '%(ENV_STACK_DIR)s/dynamodb'", "-inMemory").replace("-Xmx384m", "-Xmx1g"))
    assert conf.read_text() != text
    control("reread")
    control("update", "dynamodb")
    control("start", "dynamodb")
    subprocess.run([sys.executable, "deploy/tables.py"], cwd=REPOSITORY, stdout=subprocess.DEVNULL, check=True)
    control("restart", "cdc-bridge")
    all_ready()


def _forget_the_stream(dynamodb: Any) -> None:
    """Make the table of edges with neither stream nor indexes, and let no bridge know of a stream."""
    dynamodb.delete_table(TableName="followers")
    bare = replace(load(DATA)["followers"], indexes={}, stream=None)
    dynamodb.create_table(TableName="followers", BillingMode="PAY_PER_REQUEST", **bare.create)
    for row in dynamodb.scan(TableName="leases", ConsistentRead=True)["Items"]:
        dynamodb.delete_item(TableName="leases", Key={name: row[name] for name in ("stream_arn", "shard_id")})


def _adopt_until(world: World, sign: str) -> str:
    """Start it, and kill it and its job when it has said this."""
    with subprocess.Popen(ADOPT, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True, start_new_session=True) as first:
        said = ""
        for line in first.stdout or ():
            print(f"    {line.rstrip()}", flush=True)
            said = line.strip()
            if sign in line:
                break
        os.killpg(first.pid, signal.SIGKILL)
    world.done["runs killed"] += 1
    return said


def _row(followee: str, follower: str) -> dict[str, Any]:
    names = {"followee_id": {"S": followee}, "follower_id": {"S": follower}}
    return {**names, "followed_at": {"N": str(time.time_ns() // 1_000_000)}}


PROOFS = [tables_with_a_past]
