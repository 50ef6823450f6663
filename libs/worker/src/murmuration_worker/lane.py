"""What of one partition may be tried now, and what may be acknowledged. Pure: no clock, no I/O.

Rule: the messages of a key are handled in their order, never two batches of one key at once; different keys side by
side. If all have one key, that is the order of the partition. A message may be acknowledged when it and all that came
before it are done. What a crash repeats is what was begun and is not acknowledged: `room` messages at most, because
none is begun so far behind the oldest that is not acknowledged.

What failed is set aside, and others go on. Of what is set aside one is tried at a time, and they take turns: whatever
they wait for need not be asked by all of them. Each that succeeds then has two more tried.
"""

from collections import deque
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from itertools import islice
from typing import Generic, TypeVar

M = TypeVar("M")


@dataclass(frozen=True)
class Order(Generic[M]):
    """In which order the messages of a partition are handled."""

    key: Callable[[M], Hashable]
    batch: int  # messages of one key that are handled together, at most
    at_once: int  # batches that are tried at the same time, at most
    room: int  # messages that are begun and not acknowledged, at most


@dataclass(eq=False)
class Work(Generic[M]):
    """Some messages of one key, which are handled together, by their numbers in the lane."""

    key: Hashable
    messages: dict[int, M]
    was_set_aside: bool = field(default=False, init=False)


class Lane(Generic[M]):
    """The messages of one partition that are not acknowledged."""

    def __init__(self, order: Order[M]) -> None:
        self._order = order
        self._waiting: dict[Hashable, deque[tuple[int, M]]] = {}
        self._busy: set[Hashable] = set()
        self._trying = 0
        self._aside: deque[Work[M]] = deque()
        self._again: deque[Work[M]] = deque()
        self._done: dict[int, M] = {}
        self._came = 0
        self._acknowledged = 0

    def __len__(self) -> int:
        """Return how many messages are not acknowledged."""
        return self._came - self._acknowledged

    def add(self, message: M) -> None:
        """Take the message that came next."""
        self._waiting.setdefault(self._order.key(message), deque()).append((self._came, message))
        self._came += 1

    def begin(self) -> Work[M] | None:
        """Return what is to be tried now; None if nothing may be. Whoever tries it says that it is done, or failed."""
        if self._trying == self._order.at_once:
            return None
        work = self._again.popleft() if self._again else self._next()
        self._trying += work is not None
        return work

    def done(self, work: Work[M]) -> list[M]:
        """Note that these messages are handled, and return which may be acknowledged now, in their order."""
        self._trying -= 1
        self._busy.remove(work.key)
        self._done |= work.messages
        if work.was_set_aside:
            self.retry()
            self.retry()
        first = self._acknowledged
        while self._acknowledged in self._done:
            self._acknowledged += 1
        return [self._done.pop(number) for number in range(first, self._acknowledged)]

    def failed(self, work: Work[M]) -> None:
        """Set aside what was tried in vain."""
        self._trying -= 1
        work.was_set_aside = True
        self._aside.append(work)

    def retry(self) -> None:
        """Let that be tried which has been set aside for the longest time."""
        if self._aside:
            self._again.append(self._aside.popleft())

    def forget(self) -> list[M]:
        """Drop what is not being tried, and return it: what came behind it will not be acknowledged either."""
        waiting = [message for messages in self._waiting.values() for _, message in messages]
        begun = [message for work in (*self._aside, *self._again) for message in work.messages.values()]
        self._waiting.clear()
        self._aside.clear()
        self._again.clear()
        return [*begun, *waiting]

    def _next(self) -> Work[M] | None:
        """Begin what waits for the longest time, among the keys that are free."""
        end = self._acknowledged + self._order.room
        for key, waiting in self._waiting.items():
            if key not in self._busy and waiting[0][0] < end:
                some = [(number, message) for number, message in islice(waiting, self._order.batch) if number < end]
                for _ in some:
                    waiting.popleft()
                if not waiting:
                    del self._waiting[key]
                self._busy.add(key)
                return Work(key, dict(some))
        return None
