"""A table's stream: shards that roll over and split, are listed late, and forget after a day."""

from __future__ import annotations

import datetime as dt
import uuid
import zlib
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from murmuration_testkit.unkind_aws.unkindness import Unkindness

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from murmuration_testkit.unkind_aws.unkindness import Dice

RETENTION = 24 * 3600.0
HASHES = 1 << 32
FIRST = 10**21 - 4_000  # the sequence numbers soon grow by a digit: as texts they do not sort


@dataclass
class Shard:
    """A part of a stream: the changes of some keys for some time."""

    shard_id: str
    parent_id: str | None
    low: int
    high: int
    first: int
    listed_at: float
    records: list[dict[str, Any]] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    commits: list[float] = field(default_factory=list)
    shown: list[float] = field(default_factory=list)  # when a reader may see each
    closed_at: float | None = None
    last: int = 0
    end_listed_at: float = 0.0

    def trimmed(self, now: float) -> int:
        """Return how many of the records are forgotten."""
        return bisect_right(self.commits, now - RETENTION)

    def visible(self, now: float) -> int:
        """Return how many of the records can be read, forgotten ones included."""
        return bisect_right(self.shown, now)


class Stream:
    """All shards of one stream, the oldest first."""

    def __init__(self, table: str, view: str, clock: Callable[[], float], dice: Dice, random: Random) -> None:
        label = dt.datetime.fromtimestamp(clock(), dt.UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3]
        self.arn = f"arn:aws:dynamodb:eu-central-1:000000000000:table/{table}/stream/{label}"
        self.label = label
        self.table = table
        self.view = view
        self.enabled = True
        self.shards: dict[str, Shard] = {}
        self._clock = clock
        self._dice = dice
        self._random = random
        self._number = FIRST
        self._made = 0
        self._open: list[Shard] = []
        self.newest: tuple[str, dict[str, Any]] | None = None  # of all records, with its shard
        self._shard(None, 0, HASHES, listed_at=clock())

    def write(self, key: dict[str, Any], before: dict[str, Any] | None, item: dict[str, Any] | None) -> None:
        """Note a change of an item."""
        if not self.enabled:
            return
        place = zlib.crc32(repr(next(iter(key.values()))).encode())
        shard = next(shard for shard in self._open if shard.low <= place < shard.high)
        self._number += self._random.randint(1, 900)
        now = self._clock()
        images = {"NewImage": item} if item is not None else {}
        images |= {"OldImage": before} if before is not None else {}
        shard.numbers.append(self._number)
        shard.commits.append(now)
        shard.shown.append(max(now + self._dice.seconds(Unkindness.STREAM_LAG), shard.shown[-1] if shard.shown else 0))
        record = {
            "eventID": uuid.UUID(int=self._number).hex,
            "eventName": "INSERT" if before is None else "REMOVE" if item is None else "MODIFY",
            "eventVersion": "1.1",
            "eventSource": "aws:dynamodb",
            "awsRegion": "eu-central-1",
            "dynamodb": {
                "ApproximateCreationDateTime": now,
                "Keys": key,
                **images,
                "SequenceNumber": str(self._number),
                "SizeBytes": 100,
                "StreamViewType": self.view,
            },
        }
        shard.records.append(record)
        self.newest = shard.shard_id, record

    def roll_over(self) -> None:
        """Close every open shard; each gets a child, as every four hours."""
        for shard in list(self._open):
            self.split(shard.shard_id, 1)

    def split(self, shard_id: str, children: int = 2) -> None:
        """Close an open shard, in favour of some children."""
        shard = self.shards[shard_id]
        width = (shard.high - shard.low) // children
        self.close(shard_id)
        for n in range(children):
            high = shard.high if n == children - 1 else shard.low + (n + 1) * width
            self._shard(shard_id, shard.low + n * width, high)

    def close(self, shard_id: str) -> None:
        """Close an open shard without a child, as when a stream is switched off."""
        shard = self.shards[shard_id]
        now = self._clock()
        shard.closed_at, shard.last = now, max(self._number, shard.first)
        shard.end_listed_at = now + self._dice.seconds(Unkindness.LISTING_LAG)
        self._open.remove(shard)

    def switch_off(self) -> None:
        """Take no more records; what there is can be read for a day."""
        self.enabled = False
        for shard in list(self._open):
            self.close(shard.shard_id)

    def is_kept(self, shard: Shard) -> bool:
        """Say whether a shard can still be listed and read."""
        return shard.closed_at is None or self._clock() - shard.closed_at < RETENTION

    def open_shards(self) -> list[str]:
        """Name the shards that are written to."""
        return [shard.shard_id for shard in self._open]

    def _shard(self, parent_id: str | None, low: int, high: int, listed_at: float | None = None) -> None:
        now = self._clock()
        self._made += 1
        self._number += 1
        name = f"shardId-{int(now * 1000):020d}-{self._made:08x}"
        if listed_at is None:
            listed_at = now + self._dice.seconds(Unkindness.LISTING_LAG)
        self.shards[name] = shard = Shard(name, parent_id, low, high, self._number, listed_at)
        self._open.append(shard)
