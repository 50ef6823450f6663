"""A Redis in memory that runs this package's scripts, for tests of whoever writes or reads timelines.

Rule: TimelineWriter and TimelineReader run on it unchanged; only the scripts are said a second time (fake_scripts.py).
tests/test_contract.py does the same things here and on real Redis, single and cluster, and compares. Nothing expires by
itself.
"""

import fnmatch
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from murmuration_runtime import redis_settled
from murmuration_runtime.errors import RedisAwayError
from murmuration_runtime.redis_nodes import Answers, Argument, Item, Nodes, Script
from murmuration_timelines import scripts
from murmuration_timelines.fake_scripts import FakeScripts

Hook = Callable[[str, Sequence[str]], object]


class FakeNodes(Nodes):
    """One node. `values` has what is under each key: a list, a set or a text; `time` is its clock."""

    def __init__(self) -> None:
        self._scripts = FakeScripts()
        self.away = False
        self.silent: set[str] = set()  # whose keys live on a node that does not answer
        self.before: Hook = _nothing  # is told of each call: the script's or the command's name, and its keys
        self.after: Hook = _nothing
        known = {**vars(scripts), **vars(redis_settled)}
        self._names = {script.sha: name.lower() for name, script in known.items() if isinstance(script, Script)}

    @property
    def values(self) -> dict[str, Any]:
        """Return what is there."""
        return self._scripts.values

    def begin_anew(self) -> None:
        """Lose everything, as a restart does, and have another history."""
        self.values.clear()
        self.change_history()

    def change_history(self) -> None:
        """Lose nothing, and have another history, as a replica that was promoted has."""
        self._scripts.lives += 1

    def set_clock(self, clock: Callable[[], float]) -> None:
        """Have the time from there on by this clock."""
        self._scripts.clock = clock

    def forget(self, *keys: str) -> None:
        """Lose some keys, as an eviction does."""
        for key in keys:
            self.values.pop(key, None)

    @property
    def client(self) -> "FakeNodes":
        """Return what runs the commands that go to all nodes."""
        return self

    def scan_iter(self, match: str = "*", *, count: int) -> Iterator[str]:  # noqa: ARG002
        """Give the keys that match."""
        return iter(fnmatch.filter(self.values, match))

    def call(self, script: Script, keys: Sequence[str], args: Sequence[Argument]) -> Any:
        """Run a script on keys of one hash tag."""
        name = self._names[script.sha]
        return self._do(name, keys, lambda: self._scripts.run(name, *keys, *args))

    def command(self, name: str, key: str, *args: Argument) -> Any:
        """Run a command on a key."""
        name = name.lower()
        return self._do(name, [key], lambda: self._scripts.run(name, key, *args))

    def gather(
        self,
        script: Script,
        args: Sequence[Argument],
        items: Sequence[Item],
        *,
        whole: bool = True,
    ) -> Answers:
        """Run a script with these arguments, and behind them the items."""
        name, heard = self._names[script.sha], [item for item in items if not self._is_silent(item[0])]
        answers: Answers = []
        if heard:
            keys = [item[0] for item in heard]
            answers.append((heard, self._do(name, keys, lambda: self._scripts.run(name, *args, heard))))
        if len(heard) < len(items) and (whole or not heard):
            raise _silence()
        return answers

    @contextmanager
    def errors_named(self) -> Iterator[None]:
        """Do nothing: errors here have their names."""
        yield

    def check(self, use: Callable[[], object] = int) -> None:
        """Raise RedisAwayError while it is away."""
        self._do("ping", (), lambda: None)
        use()

    def _is_silent(self, key: str) -> bool:
        return key[key.find("{") + 1 : -1] in self.silent

    def _do(self, name: str, keys: Sequence[str], work: Callable[[], Any]) -> Any:
        """Do something as one call."""
        if self.away or any(map(self._is_silent, keys)):
            raise _silence()
        self.before(name, keys)
        answer = work()
        self.after(name, keys)
        return answer


def _silence() -> RedisAwayError:
    return RedisAwayError("Redis did not answer: this test has taken it away")


def _nothing(_name: str, _keys: Sequence[str]) -> None:
    """Do nothing."""
