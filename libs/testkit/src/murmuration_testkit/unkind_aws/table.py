"""A table's items, its indexes, which follow later, and what an inconsistent read may still see."""

from __future__ import annotations

import heapq
import zlib
from bisect import bisect_left, bisect_right
from itertools import count
from typing import TYPE_CHECKING, Any

from murmuration_testkit.unkind_aws.expressions import InvalidError, kind_of, plain
from murmuration_testkit.unkind_aws.unkindness import Unkindness

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from murmuration_testkit.unkind_aws.stream import Stream
    from murmuration_testkit.unkind_aws.unkindness import Dice

Item = dict[str, Any]
Key = tuple[Any, ...]


def _scattered(partition: Any) -> tuple[int, str]:
    """Order partitions as a hash does."""
    return zlib.crc32(repr(partition).encode()), repr(partition)


class Rows:
    """Items by partition, sorted within each."""

    def __init__(self) -> None:
        self._partitions: dict[Any, dict[Key, Item]] = {}
        self._sorted: dict[Any, list[Key]] = {}

    def get(self, partition: Any, place: Key) -> Item | None:
        """Return one item."""
        return self._partitions.get(partition, {}).get(place)

    def put(self, partition: Any, place: Key, item: Item | None) -> None:
        """Put an item in its place; None takes it away."""
        rows = self._partitions.setdefault(partition, {})
        if item is None:
            if rows.pop(place, None) is not None:
                self._sorted.pop(partition, None)
            if not rows:
                del self._partitions[partition]
            return
        if place not in rows:
            self._sorted.pop(partition, None)
        rows[place] = item

    def places(self, partition: Any) -> list[Key]:
        """Return a partition's places in their order."""
        found = self._sorted.get(partition)
        if found is None:
            found = self._sorted[partition] = sorted(self._partitions.get(partition, ()))
        return found

    def partitions(self) -> list[Any]:
        """Return the partitions, in an order that is always the same and means nothing."""
        return sorted(self._partitions, key=_scattered)

    def __len__(self) -> int:
        return sum(map(len, self._partitions.values()))

    def walk(self, partitions: list[Any], start: tuple[Any, Key] | None, *, forward: bool) -> Iterator[tuple[Any, Key]]:
        """Give the places of these partitions, after the start if there is one."""
        if start is not None:
            partitions = [partition for partition in partitions if _scattered(partition) >= _scattered(start[0])]
        for partition in partitions:
            places = self.places(partition)
            if start is not None and partition == start[0]:
                after = bisect_right(places, start[1]), bisect_left(places, start[1])
                places = places[after[0] :] if forward else places[: after[1]]
            for place in places if forward else reversed(places):
                yield partition, place


class Index:
    """A global secondary index: what its table wrote, some time ago."""

    def __init__(self, name: str, key: tuple[str, ...], table_key: tuple[str, ...], projection: Any) -> None:
        self.name = name
        self.key = key
        self.projection = projection
        self._table_key = table_key
        self._rows = Rows()
        self._waiting: list[tuple[float, int, Key, Item | None]] = []
        self._order = count()
        self._last: dict[Key, float] = {}
        self._shown: dict[Key, Item] = {}

    def write(self, key: Key, item: Item | None, now: float, lag: float) -> None:
        """Take a write, to show it after a while; of one item, in order."""
        if not lag and not self._waiting:
            self._show(key, item)
            return
        at = max(now + lag, self._last.get(key, 0))
        self._last[key] = at
        heapq.heappush(self._waiting, (at, next(self._order), key, item))

    def rows(self, now: float) -> Rows:
        """Return what is to be seen by now."""
        while self._waiting and self._waiting[0][0] <= now:
            _, _, key, item = heapq.heappop(self._waiting)
            self._show(key, item)
        return self._rows

    def lacks(self, partition: Any) -> bool:
        """Say whether a write of this partition (None: of any) is still to be shown."""
        return any(
            partition is None or partition in (self._partition(item), self._partition(self._shown.get(key)))
            for _, _, key, item in self._waiting
        )

    def _partition(self, item: Item | None) -> Any:
        return plain(item[self.key[0]]) if item and self.key[0] in item else None

    def place(self, item: Item) -> Key:
        """Return where in its partition an item stands."""
        return tuple(plain(item[name]) for name in (*self.key[1:], *self._table_key))

    def _show(self, key: Key, item: Item | None) -> None:
        before = self._shown.pop(key, None)
        if before is not None:
            self._rows.put(plain(before[self.key[0]]), self.place(before), None)
        if item is not None and all(name in item for name in self.key):
            self._shown[key] = item
            self._rows.put(plain(item[self.key[0]]), self.place(item), item)


class Table:
    """One table. An item that it holds is never changed, only replaced."""

    def __init__(self, name: str, create: Mapping[str, Any], now: float) -> None:
        """Take the words of CreateTable."""
        self.name = name
        self.create = dict(create)
        self.made_at = now
        self.key = tuple(each["AttributeName"] for each in create["KeySchema"])
        self.kinds = {each["AttributeName"]: each["AttributeType"] for each in create["AttributeDefinitions"]}
        self.indexes: dict[str, Index] = {}
        self.stream: Stream | None = None
        self.expires: str | None = None
        self.locked: set[Key] = set()  # by a transaction that is being committed
        self.writes = 0
        self._rows = Rows()
        self._before: dict[Key, tuple[float, Item | None]] = {}
        for each in create.get("GlobalSecondaryIndexes", ()):
            self.add_index(each, now)

    def add_index(self, asked: Mapping[str, Any], now: float) -> None:
        """Make an index, with what there is."""
        key = tuple(each["AttributeName"] for each in asked["KeySchema"])
        index = self.indexes[asked["IndexName"]] = Index(asked["IndexName"], key, self.key, asked["Projection"])
        for item in self.items():
            index.write(self.key_of(item), item, now, 0)

    def key_of(self, item: Mapping[str, Any], *, only: bool = False) -> Key:
        """Return an item's key; refuse what is none."""
        try:
            key = tuple(plain(item[name]) for name in self.key)
        except KeyError as error:
            raise InvalidError("One of the required keys was not given a value") from error
        if any(kind_of(item[name]) != self.kinds[name] for name in self.key) or (only and len(item) != len(self.key)):
            raise InvalidError("The provided key element does not match the schema")
        if "" in key:
            raise InvalidError("One or more parameter values are not valid. A key attribute has an empty string value")
        return key

    def get(self, key: Key) -> Item | None:
        """Return one item as it is."""
        return self._rows.get(key[0], key[1:])

    def seen(self, key: Key, now: float, dice: Dice) -> Item | None:
        """Return one item as an inconsistent read may see it."""
        at, before = self._before.get(key, (0.0, None))
        item = self.get(key)
        if at > now and before != item:
            dice.occurred[Unkindness.READ_LAG] += 1
            return before
        return item

    def put(self, key: Key, item: Item | None, now: float, dice: Dice) -> None:
        """Write an item, or delete it; the stream and the indexes hear of it."""
        before = self.get(key)
        if before == item:
            return
        self.writes += 1
        if Unkindness.READ_LAG in dice.switches:
            self._before[key] = now + dice.seconds(Unkindness.READ_LAG), before
        self._rows.put(key[0], key[1:], item)
        for index in self.indexes.values():
            index.write(key, item, now, dice.seconds(Unkindness.INDEX_LAG))
        if self.stream:
            self.stream.write({name: (item or before or {})[name] for name in self.key}, before, item)

    def items(self) -> Iterator[Item]:
        """Give all items as they are."""
        for partition in self._rows.partitions():
            for place in self._rows.places(partition):
                yield self._rows.get(partition, place) or {}

    def rows(self) -> Rows:
        """Return the items as they are."""
        return self._rows
