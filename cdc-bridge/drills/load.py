"""People who follow and unfollow while things break, and a journal of what they did."""

import os
import random
import threading
import time
import uuid
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from contracts import TOPICS, Codec
from contracts.registry import RegistryAwayError, codec_for
from murmuration_testkit.dynamodb_local import DynamoDbLocal, dynamodb_local
from murmuration_testkit.topics import Tap
from murmuration_testkit.waiting import eventually

from .bridges import Bridge, bridges
from .ledger import Change, Message, differences

WRITERS = 4
PEOPLE = 40
BETWEEN_WRITES = 0.02
SETTLED = 90.0
QUIET = 2.0
_marks = count(int(time.time() * 1000))


class Load:
    """Writers that each have people of their own, and repeat what was not answered: so the journal is the truth."""

    def __init__(self, store: DynamoDbLocal) -> None:
        self.written: dict[str, list[Change]] = defaultdict(list)
        self._store = store
        self._people = [f"{uuid.uuid4().hex[:12]}-{number}" for number in range(PEOPLE)]
        self._over = threading.Event()
        self._resting = threading.Event()
        self._busy = [threading.Lock() for _ in range(WRITERS)]
        self._threads = [threading.Thread(target=self._write, args=(number,)) for number in range(WRITERS)]

    def start(self) -> None:
        """Begin."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Let each finish what it is doing."""
        self._over.set()
        for thread in self._threads:
            thread.join()

    @contextmanager
    def resting(self) -> Iterator[None]:
        """Write nothing meanwhile."""
        self._resting.set()
        for busy in self._busy:
            with busy:
                """It has seen the sign."""
        yield
        self._resting.clear()

    def _write(self, number: int) -> None:
        client = self._store.client()
        mine = self._people[number::WRITERS]
        following: set[tuple[str, str]] = set()
        while not self._over.wait(BETWEEN_WRITES):
            with self._busy[number]:
                if self._resting.is_set():
                    continue
                followee, follower = random.choice(mine), f"fan-{random.randrange(3)}"
                self._change(client, followee, follower, following)

    def _change(self, client: Any, followee: str, follower: str, following: set[tuple[str, str]]) -> None:
        key = {"followee_id": {"S": followee}, "follower_id": {"S": follower}}
        if (followee, follower) in following:
            change = Change(follower, following=False, at=None)
            _insist(lambda: client.delete_item(TableName="followers", Key=key))
        else:
            change = Change(follower, following=True, at=next(_marks))
            item = key | {"followed_at": {"N": str(change.at)}}
            _insist(lambda: client.put_item(TableName="followers", Item=item))
        following ^= {(followee, follower)}
        self.written[followee].append(change)


def _insist(write: Callable[[], object]) -> None:
    """Write until it is answered; a repeat changes nothing, and then the stream has no record of it."""
    while True:
        with suppress(BotoCoreError, ClientError):
            write()
            return
        time.sleep(0.1)


@dataclass
class World:
    """Everything that a drill breaks."""

    store: DynamoDbLocal
    bridges: list[Bridge]
    load: Load
    tap: Tap
    codec: Codec
    collected: list[Message] = field(default_factory=list)

    def collect(self) -> None:
        """Take from Kafka what was written until now; the load must be resting."""
        self.collected += self._published(self.load.written)

    def collect_published(self) -> None:
        """Take from Kafka what is there now."""
        self.collected += self._published(dict.fromkeys(self.load.written, ()))

    def outcome(self, name: str, faults: str, lost: Collection[tuple[str, int]] = ()) -> dict[str, Any]:
        """End the load, wait until Kafka is quiet, and compare; these of the keys' changes must not be there."""
        self.load.stop()
        eventually(lambda: all(bridge.ready() for bridge in self.bridges), within=SETTLED)
        wanted = {
            key: [change for number, change in enumerate(changes) if (key, number) not in lost]
            for key, changes in self.load.written.items()
        }
        total = sum(map(len, self.load.written.values()))
        self.collected += self._published(wanted)
        found, counts = differences(wanted, self.collected)
        missing = total - sum(map(len, wanted.values()))
        return {
            "name": f"cdc-bridge: {name}",
            "faults": faults,
            "compared": "each committed row change with Kafka, in order per key; what goes back per (partition, shard)",
            "differences": found,
            "counts": f"{total} row changes of {len(wanted)} keys, {counts['new']} events, {counts['repeated']} repeats"
            + (f", {missing} covered by reported gaps" if missing else ""),
        }

    def _published(self, wanted: Mapping[str, Sequence[Change]]) -> Iterator[Message]:
        """Give our messages until every change wanted is there and nothing more comes, or time is up."""
        missing = sum(map(len, wanted.values()))
        seen = {message.event_id for message in self.collected}
        deadline = time.monotonic() + SETTLED
        while (raw := self.tap.read(QUIET)) or (len(seen) < missing and time.monotonic() < deadline):
            for message in raw:
                event: Any = self.codec.decode(message.value())
                if event.followee_id in wanted:
                    seen.add(event.event_id)
                    source = event.source.shard_id, event.source.sequence_number
                    change = Change(event.follower_id, event.following, event.occurred_at)
                    yield Message(message.partition(), event.event_id, *source, event.followee_id, change)


def _codec() -> Codec | None:
    with suppress(RegistryAwayError):
        return codec_for(TOPICS["FollowChanged"], os.environ["SCHEMA_REGISTRY_URL"])
    return None


@contextmanager
def world(count: int = 2, **settings: str) -> Iterator[World]:
    """Have a DynamoDB, bridges and a load; nobody else writes to them."""
    eventually(_codec, within=SETTLED)  # the drill before may have killed the registry
    with dynamodb_local() as store, bridges(store, count, **settings) as started, under_load(store, started) as here:
        yield here


@contextmanager
def under_load(store: DynamoDbLocal, started: list[Bridge]) -> Iterator[World]:
    """Have a load on these bridges."""
    codec: Any = eventually(_codec, within=SETTLED)
    load, tap = Load(store), Tap("FollowChanged")
    load.start()
    try:
        yield World(store, started, load, tap, codec)
    finally:
        load.stop()
        tap.close()
