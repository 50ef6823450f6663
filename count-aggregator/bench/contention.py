"""How long others wait while one user, a bot that follows many, is in every partition's transactions.

DynamoDB Local never raises TransactionConflict. So it is injected here, as AWS does it: a transaction holds its items
for some milliseconds, and another one that names any of them is cancelled at once, with a reason for each item.
"""

import os
import queue
import random
import statistics
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from contracts import FollowChanged, Source
from count_aggregator.counting import Counting
from count_aggregator.ledger import Ledger
from count_aggregator.topic import KEPT_SECONDS, PARTITION_IDS, TOPIC, partition_id
from murmuration_runtime.errors import StoreAwayError
from murmuration_testkit.unkind_aws import UnkindAws
from murmuration_testkit.unkind_aws.aws import error
from murmuration_worker.messages import Arrival

SECONDS = float(os.environ.get("CONTENTION_SECONDS", "15"))
RATE, BOTS_RATE = 200, 60  # events a second: of everybody else, and of the bot
TRANSACTION_SECONDS = (0.015, 0.045)  # that one holds its items
BATCH = 500
AT_MOST = 2.0
BOT = "bot"


class Conflicts:
    """The transactions that are under way, of all processes."""

    def __init__(self) -> None:
        self.met = 0
        self._lock = threading.Lock()
        self._held: Counter[str] = Counter()

    @contextmanager
    def holding(self, items: list[str]) -> Iterator[list[str]]:
        """Give the reasons against holding these items now; if there is none, hold them."""
        with self._lock:
            reasons = ["TransactionConflict" if self._held[item] else "None" for item in items]
            refused = "TransactionConflict" in reasons
            self.met += refused
            if not refused:
                self._held.update(items)
        try:
            yield reasons if refused else []
        finally:
            if not refused:
                with self._lock:
                    self._held.subtract(items)


class Client:
    """A client whose transactions take their time, and meet each other."""

    def __init__(self, aws: UnkindAws, conflicts: Conflicts) -> None:
        self._client = aws.client()
        self._conflicts = conflicts

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def transact_write_items(self, TransactItems: list[Any]) -> Any:  # noqa: N803 - boto3's name
        """Hold the items for a while, and write."""
        actions = [next(iter(each.values())) for each in TransactItems]
        with self._conflicts.holding([str(each.get("Key") or each["Item"]) for each in actions]) as reasons:
            if reasons:
                causes = [{"Code": reason} for reason in reasons]
                text = "Transaction cancelled"
                code = "TransactionCanceledException"
                raise error("dynamodb", "TransactWriteItems", code, text, CancellationReasons=causes)
            time.sleep(random.uniform(*TRANSACTION_SECONDS))
            return self._client.transact_write_items(TransactItems=TransactItems)


class Run:
    """Some seconds of follows, counted by so many processes that share the partitions."""

    def __init__(self, processes: int, *, with_bot: bool) -> None:
        self.conflicts = Conflicts()
        self.late: dict[bool, list[float]] = {True: [], False: []}
        self._aws = UnkindAws()
        self._queues: list[queue.Queue[Any]] = [queue.Queue() for _ in PARTITION_IDS]
        self._offsets: Counter[int] = Counter()
        counting = [
            Counting(Ledger(Client(self._aws, self.conflicts), "", KEPT_SECONDS))  # type: ignore[arg-type]
            for _ in range(processes)
        ]
        lanes = [
            threading.Thread(target=self._count, args=(counting[number % processes], number))
            for number in range(len(PARTITION_IDS))
        ]
        for lane in lanes:
            lane.start()
        self.expected = self._follow(with_bot=with_bot)
        for waiting in self._queues:
            waiting.put(None)
        for lane in lanes:
            lane.join()
        found = self._aws.client().scan(TableName="users")["Items"]
        self.counted = sum(int(user["following_count"]["N"]) for user in found)

    def _follow(self, *, with_bot: bool) -> int:
        """Make events at an even rate, and return how many."""
        rate = RATE + BOTS_RATE * with_bot
        began, number = time.monotonic(), 0
        while (now := time.monotonic()) < began + SECONDS:
            while number < (now - began) * rate:
                follower = BOT if with_bot and random.random() < BOTS_RATE / rate else f"fan-{number}"
                event = FollowChanged(
                    str(number), Source("shard", number), follower, f"star-{number}", following=True, occurred_at=None
                )
                partition = TOPIC.partition(TOPIC.key(event))
                self._queues[partition].put((Arrival(self._offsets[partition], event), time.monotonic()))
                self._offsets[partition] += 1
                number += 1
            time.sleep(0.005)
        return number

    def _count(self, counting: Counting, number: int) -> None:
        while True:
            batch = [self._queues[number].get()]
            while len(batch) < BATCH and not self._queues[number].empty():
                batch.append(self._queues[number].get())
            given = [each for each in batch if each is not None]
            while True:
                try:
                    counting.count(partition_id(number), "bench", [arrival for arrival, _ in given])
                    break
                except StoreAwayError:
                    time.sleep(0.05)
            now = time.monotonic()
            for arrival, made in given:
                self.late[arrival.event.follower_id == BOT].append(now - made)
            if None in batch:
                return


def hot_follower() -> list[dict[str, Any]]:
    """Everybody else's 99th percentile, from Kafka to the counts, with the bot and without."""
    figures = []
    for processes in (1, 3, 12):
        alone, run = Run(processes, with_bot=False), Run(processes, with_bot=True)
        for each in (alone, run):
            if each.counted != each.expected:
                raise AssertionError(f"{each.counted} of {each.expected} events counted")
        ours, reference = _p99(run.late[False]), _p99(alone.late[False])
        figures.append(
            {
                "name": f"counts: others' p99 beside a hot follower, {processes} process(es)",
                "ours": ours,
                "reference": reference,
                "unit": "s",
                "ratio": ours / reference,
                "target": None,
                "at_most": AT_MOST,
                "setup": f"{RATE}/s others, {BOTS_RATE}/s of one follower, {len(PARTITION_IDS)} partitions, "
                f"{SECONDS:.0f} s; "
                f"transactions hold their items {TRANSACTION_SECONDS[0]:.3f} to {TRANSACTION_SECONDS[1]:.3f} s; "
                f"{run.conflicts.met} conflicts; the bot's own p99 {_p99(run.late[True]):.2f} s, "
                f"others' median {statistics.median(run.late[False]):.3f} s; reference: without the bot",
            }
        )
    return figures


def _p99(times: list[float]) -> float:
    return statistics.quantiles(times, n=100)[98]


BENCHMARKS = [hot_follower]
