"""A Redis in memory that runs this package's scripts, for tests of whoever writes or reads timelines.

Rule: TimelineWriter and TimelineReader run on it unchanged; only the scripts are said a second time, as briefly as they
can be. tests/test_contract.py does the same things here and on real Redis, single and cluster, and compares. Nothing
expires by itself.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Self

from murmuration_runtime.errors import RedisAwayError
from murmuration_runtime.redis_nodes import Answers, Item, Nodes, Script
from murmuration_timelines import scripts
from murmuration_timelines.layout import MARKER

Hook = Callable[[str, Sequence[str]], object]


class FakeNodes(Nodes):
    """One node. `values` has what is under each key: a list, a set or a text."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self.away = False
        self.before: Hook = _nothing  # is told of each call: the script's or first command's name, and its keys
        self.after: Hook = _nothing
        self._lives = 1
        self._scripts: dict[str, tuple[str, Callable[..., Any]]] = {
            getattr(scripts, name).sha: (name.lower(), getattr(self, f"_{name.lower()}"))
            for name in ("INSERT", "AGREE", "LOAD", "BEGIN", "RENEW", "COMMIT", "RECENT", "BODIES", "FILL", "RESET")
        }

    def begin_anew(self) -> None:
        """Lose everything, as a restart does, and have another history."""
        self.values.clear()
        self.change_history()

    def change_history(self) -> None:
        """Lose nothing, and have another history, as a replica that was promoted has."""
        self._lives += 1

    def forget(self, *keys: str) -> None:
        """Lose some keys, as an eviction does."""
        for key in keys:
            self.values.pop(key, None)

    @property
    def client(self) -> "_Commands":
        """Return what runs single commands."""
        return _Commands(self)

    def call(self, script: Script, keys: Sequence[str], args: Sequence[str | int]) -> Any:
        """Run a script on keys of one hash tag."""
        name, run = self._scripts[script.sha]
        return self.run(name, keys, lambda: run(*keys, *args))

    def members(self, key: str) -> set[str]:
        """Return the members of a set."""
        members: set[str] = self.client.smembers(key)
        return members

    def gather(
        self,
        script: Script,
        args: Sequence[str | int],
        items: Sequence[Item],
        *,
        whole: bool = True,  # noqa: ARG002 - the one answers, or is away
    ) -> Answers:
        """Run a script with these arguments, and behind them the items."""
        name, run = self._scripts[script.sha]
        return [(items, self.run(name, [item[0] for item in items], lambda: run(*args, items)))] if items else []

    @contextmanager
    def errors_named(self) -> Iterator[None]:
        """Do nothing: errors here have their names."""
        yield

    def check(self, use: Callable[[], object] = int) -> None:
        """Raise RedisAwayError while it is away."""
        self.run("ping", (), lambda: None)
        use()

    def run(self, name: str, keys: Sequence[str], work: Callable[[], Any]) -> Any:
        """Do something as one call."""
        if self.away:
            raise RedisAwayError("Redis did not answer: this test has taken it away")
        self.before(name, keys)
        answer = work()
        self.after(name, keys)
        return answer

    def _history(self) -> str:
        return f"{self._lives:08x}"

    def _prefix(self, version: str) -> str:
        return f"{MARKER}{version}{self._history()}"

    def _insert(self, tweet_id: str, cap: int, slack: int, items: Sequence[Item]) -> int:
        inserted = 0
        for (key,) in items:
            ids = self.values.get(key)
            if ids and tweet_id not in ids and tweet_id > ids[-1]:  # whatever begins with "!" is below every id
                ids = sorted([*ids, tweet_id], reverse=True)
                is_cut = len(ids) > cap + slack and not _is_marker(ids[-1])
                self.values[key] = ids[:cap] if is_cut else ids
                inserted += 1
        return inserted

    def _agree(self, timeline: str, followees: str, followee: str, followed: str, cap: int, *tweet_ids: str) -> int:
        ids, known = self.values.get(timeline), self.values.get(followees)
        if not ids:
            return 0
        if _is_marker(ids[-1]):
            self.values[timeline] = [*ids[:-1], f"{ids[-1]}~"]
            return 0
        if known is None:
            del self.values[timeline]
            return 0
        others = known.replace(f" {followee} ", " ")
        self.values[followees] = others if followed == "0" else f"{others}{followee} "
        if followed == "1":
            above = {tweet_id for tweet_id in tweet_ids if tweet_id > ids[-1]}
            self.values[timeline] = sorted({*ids, *above}, reverse=True)[:cap]
        return 1

    def _load(self, version: str, count: int, _lives: int, _provisional: int, items: Sequence[Item]) -> list[Any]:
        return [self._loaded(self._prefix(version), *item, count=count) for item in items]

    def _loaded(self, own: str, timeline: str, followees: str, *, count: int) -> list[str] | None:
        ids, known = self.values.get(timeline), self.values.get(followees, "")
        if not ids or _is_marker(ids[-1]) or not known.startswith(own):
            return None
        return [" ".join(ids[: count or None]), known]

    def _begin(self, timeline: str, followees: str, version: str, token: str, _seconds: int) -> int:
        own, ids = self._prefix(version), self.values.get(timeline)
        if ids and re.match(rf"!(\d+:)?{self._history()}", ids[-1]):
            return 0
        if ids and not _is_marker(ids[-1]) and self.values.get(followees, "").startswith(own):
            return 0
        self.values[timeline] = [own + token]
        return 1

    def _renew(self, timeline: str, version: str, token: str, _seconds: int, look_again: int) -> int:
        own, ids = self._prefix(version) + token, self.values.get(timeline)
        if not ids or not ids[-1].startswith(own):
            return 0
        if look_again:
            self.values[timeline] = [*ids[:-1], own]
        return 1

    def _commit(
        self, timeline: str, followees: str, version: str, token: str, _seconds: int, count: int, *rest: str
    ) -> int:
        own, there = self._prefix(version), self.values.get(timeline)
        if not there or there[-1] != own + token:
            return 0
        ids = rest[:count]
        above = {tweet_id for tweet_id in there[:-1] if tweet_id > ids[-1]}
        self.values[timeline] = sorted({*ids, *above}, reverse=True)
        self.values[followees] = f"{own} {' '.join(rest[count:])} "
        return 1

    def _recent(self, items: Sequence[Item]) -> list[str]:
        return [self._history(), *(tweet_id for (key,) in items for tweet_id in sorted(self.values.get(key, ())))]

    def _bodies(self, version: str, items: Sequence[Item]) -> list[str]:
        own = self._prefix(version)
        found: list[str] = []
        for (key,) in items:
            text: str = self.values.get(key, own)
            is_known = text == "" or (text.startswith(own) and text != own)
            found.append(text.removeprefix(own) if is_known else own)
        return found

    def _fill(self, version: str, _body: int, _tombstone: int, items: Sequence[Item]) -> int:
        own = self._prefix(version)
        for key, right, text in items:
            old = self.values.get(key)
            if not text:
                self.values[key] = ""
            elif right == own and old != "" and not (old or "").startswith(own):
                self.values[key] = own + text
        return 1

    def _reset(self, items: Sequence[Item]) -> list[int]:
        found = [int(bool(self.values.get(key))) for (key,) in items]
        self.forget(*(key for (key,), there in zip(items, found, strict=True) if there))
        return found


class _Commands:
    """The commands of redis-py that this package uses beside its scripts; also a pipeline of them."""

    def __init__(self, nodes: FakeNodes, *, gathers: bool = False) -> None:
        self._nodes = nodes
        self._gathers = gathers
        self._gathered: list[tuple[str, str, Callable[[], Any]]] = []

    def pipeline(self, *, transaction: bool) -> Self:
        assert not transaction  # noqa: S101 - the fake has none
        return type(self)(self._nodes, gathers=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._gathered = []

    def execute(self) -> list[Any]:
        """Run what was gathered as one call."""
        name, key, _ = self._gathered[0]
        answers: list[Any] = self._nodes.run(name, [key], lambda: [work() for *_, work in self._gathered])
        return answers

    def zadd(self, key: str, members: dict[str, int]) -> Any:
        return self._do("zadd", key, lambda: self._values.setdefault(key, set()).update(members))

    def zremrangebyrank(self, key: str, first: int, last: int) -> Any:
        assert (first, last) < (0, 0)  # noqa: S101 - all but the newest: the fake knows no other
        return self._do("zremrangebyrank", key, lambda: self._keep_newest(key, -last - 1))

    def zrange(self, key: str, _first: int, _last: int) -> Any:
        return self._do("zrange", key, lambda: sorted(self._values.get(key, ())))

    def sadd(self, key: str, member: str) -> Any:
        return self._do("sadd", key, lambda: self._values.setdefault(key, set()).add(member))

    def smembers(self, key: str) -> Any:
        return self._do("smembers", key, lambda: set(self._values.get(key, ())))

    def exists(self, key: str) -> Any:
        return self._do("exists", key, lambda: int(key in self._values))

    def expire(self, key: str, _seconds: int) -> Any:
        return self._do("expire", key, lambda: int(key in self._values))

    def set(self, key: str, value: str, ex: int) -> Any:  # noqa: ARG002
        return self._do("set", key, lambda: self._values.update({key: value}))

    def scan_iter(self, *, count: int) -> Iterator[str]:  # noqa: ARG002
        return iter([*self._values])

    @property
    def _values(self) -> dict[str, Any]:
        return self._nodes.values

    def _keep_newest(self, key: str, count: int) -> None:
        self._values[key] = set(sorted(self._values[key])[-count:])

    def _do(self, name: str, key: str, work: Callable[[], Any]) -> Any:
        if self._gathers:
            self._gathered.append((name, key, work))
            return self
        return self._nodes.run(name, [key], work)


def _is_marker(element: str) -> bool:
    return element.startswith(MARKER)


def _nothing(_name: str, _keys: Sequence[str]) -> None:
    """Do nothing."""
