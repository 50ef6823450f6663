"""The scripts and the few commands beside them, said a second time over a dictionary, as briefly as they can be.

Rule: a method is called as its script or command is, with "_" before it, and takes what that takes: keys and arguments,
or arguments and items.
"""

import re
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

from murmuration_timelines.layout import BEGINNING, MARKER
from murmuration_timelines.shown import Shown

Item = tuple[str, ...]
_OF_HEAD = re.compile(rb"([^; ]*);(\d+);([\d;]*) ")


class FakeScripts:
    """One node's keys, and what runs on them."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self.lives = 1
        self.clock: Callable[[], float] = float
        self._editions = count(1)

    def run(self, name: str, *args: Any) -> Any:
        """Run a script or command."""
        return getattr(self, f"_{name}")(*args)

    def _insert(self, tweet_id: str, cap: int, slack: int, items: Sequence[Item]) -> int:
        inserted = 0
        for (key,) in items:
            ids = self.values.get(key)
            if ids and tweet_id not in ids and tweet_id > ids[-1]:  # whatever begins with "!" is below every id
                self.values[key] = sorted([*ids, tweet_id], reverse=True)
                if (len(self.values[key]) - cap) % slack == 0:
                    self._tend(key, cap)
                inserted += 1
        return inserted

    def _note(self, followee: str, _seconds: int, items: Sequence[Item]) -> list[str | None]:
        for noted, *_ in items:
            self.values.setdefault(noted, set()).add(followee)
        return [
            (self._head(shown)[1].decode() if shown in self.values else "") if timeline in self.values else None
            for _, timeline, shown in items
        ]

    def _agree(self, digest: bytes, cap: int, _count: int, *rest: Any) -> list[int]:
        *tweet_ids, items = rest
        return [self._agreed(digest, cap, tweet_ids, *item) for item in items]

    def _remember(self, key: str, tweet_id: str, most: int, _seconds: int) -> None:
        self.values[key] = {*sorted({*self.values.get(key, ()), tweet_id})[-most:]}

    def _load(self, version: str, count: int, items: Sequence[Item]) -> list[Any]:
        return [self._loaded(version, *item, count=count) for item in items]

    def _begin(self, timeline: str, shown: str, before: str, version: str, token: str, _seconds: int) -> int:
        ids = self.values.get(timeline)
        if ids and re.match(rf"!(\d+:)?{self._replication()}", ids[-1]):
            return 0
        if self._is_warm(version, timeline, shown, before):
            return 0
        self._drop(shown, before)
        self.values[timeline] = [self._marker(version) + token]
        return 1

    def _renew(self, timeline: str, version: str, token: str, _seconds: int, look_again: int) -> int:
        own, ids = self._marker(version) + token, self.values.get(timeline)
        if not ids or not ids[-1].startswith(own):
            return 0
        if look_again:
            self.values[timeline] = [*ids[:-1], own]
        return 1

    def _commit(self, timeline: str, shown: str, before: str, version: str, token: str, *built: Any) -> int:
        there = self.values.get(timeline)
        if not there or there[-1] != self._marker(version) + token:
            return 0
        self._put(timeline, shown, before, version, there[:-1], *built)
        return 1

    def _replace(self, timeline: str, shown: str, before: str, version: str, edition: str, *rest: Any) -> int:
        seconds, ages, digests, number, *ids = rest
        if not self._is_warm(version, timeline, shown, before) or self._head(shown)[1].decode() != edition:
            return 0
        arrived = {*self.values[timeline]} - {*ids[:number], BEGINNING}
        self._put(timeline, shown, before, version, arrived, seconds, ages, digests, *ids[number:])
        return 1

    def _due(self, shown: str, was: str, new: str) -> int:
        text = self.values.get(shown, b"")
        if not text.startswith(was.encode() + b" "):
            return 0
        self.values[shown] = new.encode() + text[len(was) :]
        return 1

    def _recent(self, lowest: str, items: Sequence[Item]) -> list[str]:
        found = (sorted(self.values.get(key, ())) for (key,) in items)
        return [self._history(), *(tweet_id for ids in found for tweet_id in ids if tweet_id >= lowest)]

    def _bodies(self, version: str, items: Sequence[Item]) -> list[str]:
        own = self._prefix(version)
        right = f"{own};{int(self.clock())}"
        texts: list[str] = [self.values.get(key, right) for (key,) in items]
        return [text[len(own) :] if text.startswith(own) and text != right else text and right for text in texts]

    def _fill(self, version: str, _body: int, _tombstone: int, lasts: int, items: Sequence[Item]) -> int:
        own = self._prefix(version)
        for key, right, text in items:
            given, _, at = right.partition(";")
            old = self.values.get(key)
            if not text:
                self.values[key] = ""
            elif (
                given == own and int(self.clock()) - int(at) <= lasts and old != "" and not (old or "").startswith(own)
            ):
                self.values[key] = own + text
        return 1

    def _reset(self, items: Sequence[Item]) -> list[int]:
        found = [int(bool(self.values.get(key))) for (key,) in items]
        self._drop(*(key for (key,), there in zip(items, found, strict=True) if there))
        return found

    def _settle(self, key: str, _seconds: int, *pairs: Any) -> int:
        known = self.values.setdefault(key, {})
        for field, until in zip(pairs[::2], pairs[1::2], strict=True):
            known[field] = str(max(int(until), int(known.get(field, 0))))
        return 1

    def _hgetall(self, key: str) -> dict[str, str]:
        return {**self.values.get(key, {})}

    def _expire(self, key: str, _seconds: int) -> int:
        return int(key in self.values)

    def _set(self, key: str, value: str, *_expiry: Any) -> None:
        self.values[key] = value

    def _get(self, key: str) -> str | None:
        return self.values.get(key)

    def _smembers(self, key: str) -> set[str]:
        return {*self.values.get(key, ())}

    def _llen(self, key: str) -> int:
        return len(self.values.get(key, ()))

    def _zrange(self, key: str, _first: int, _last: int) -> list[str]:
        return sorted(self.values.get(key, ()))

    def _tend(self, key: str, cap: int) -> None:
        kind, _, owner = key.partition("_timeline:")
        before = f"{'' if kind == 'home' else 'author_'}followees:{owner}"
        ids = self.values[key]
        if _is_marker(ids[-1]):
            return
        if f"{kind}_shown:{owner}" not in self.values and before not in self.values:
            del self.values[key]
        else:
            self.values[key] = ids[:cap]

    def _agreed(
        self, digest: bytes, cap: int, ids: Sequence[str], timeline: str, shown: str, before: str, noted: str, now: str
    ) -> int:
        there = self.values.get(timeline)
        if not there:
            return 0
        if _is_marker(there[-1]):
            self.values[timeline] = [*there[:-1], f"{there[-1]}~"]
            return 0
        if shown not in self.values or before in self.values:
            self._drop(timeline, shown, before)
            return 0
        own, edition, ages = self._head(shown)
        if edition.decode() != noted:
            return 2
        digests = Shown(self.values[shown].partition(b" ")[2]).each() - {digest}
        if now == "1":
            digests |= {digest}
            above = {tweet_id for tweet_id in ids if tweet_id > there[-1]}
            self.values[timeline] = sorted({*there, *above}, reverse=True)[:cap]
        self.values[shown] = b"%s;%d;%s %s" % (own, next(self._editions), ages, b"".join(sorted(digests)))
        return 1

    def _loaded(self, version: str, timeline: str, shown: str, before: str, state: str, *, count: int) -> Any:
        if not self._is_warm(version, timeline, shown, before):
            return None
        ids, shows = self.values[timeline], self.values[shown]
        head = shows.decode(errors="replace").partition(" ")[0]
        if (now := f"{head} {ids}") == state:
            return [-1]
        changed = [-1, " ".join(ids[: count or None]).encode(), now.encode()]
        return changed if state.startswith(f"{head} ") else [*changed, shows]

    def _is_warm(self, version: str, timeline: str, shown: str, before: str) -> bool:
        ids: Sequence[str] = self.values.get(timeline, ())
        is_own: bool = self.values.get(shown, b"").startswith(f"{self._prefix(version)};".encode())
        return bool(ids) and not _is_marker(ids[-1]) and is_own and before not in self.values

    def _put(self, timeline: str, shown: str, before: str, version: str, arrived: Any, *built: Any) -> None:
        _seconds, ages, digests, *ids = built
        above = {tweet_id for tweet_id in arrived if tweet_id > ids[-1]}
        self._drop(before)
        self.values[timeline] = sorted({*ids, *above}, reverse=True)
        self.values[shown] = f"{self._prefix(version)};{next(self._editions)};{ages} ".encode() + digests

    def _head(self, shown: str) -> Sequence[bytes]:
        found = _OF_HEAD.match(self.values[shown])
        assert found  # noqa: S101 - whoever writes it here writes one
        return found.groups()

    def _drop(self, *keys: str) -> None:
        for key in keys:
            self.values.pop(key, None)

    def _history(self) -> str:
        return f"{self.lives:016x}"

    def _replication(self) -> str:
        return f"{self.lives:08x}"

    def _prefix(self, version: str) -> str:
        return f"{MARKER}{version}{self._history()}"

    def _marker(self, version: str) -> str:
        return f"{MARKER}{version}{self._replication()}"


def _is_marker(element: str) -> bool:
    return element.startswith(MARKER)
