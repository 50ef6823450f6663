"""Users whose rows the transactions of several partitions want at once: a bot that follows many is in all of them.

Rule: DynamoDB refuses a transaction while another one holds an item of it, and whoever comes next wins. So for a while
after a conflict the partitions of this process take turns at such a user, in the order in which they came, and keep the
turn until they have written. Between processes there is chance, and it favours whoever has waited longest: they are as
many as there are partitions at most, so a crowd that tries ever more slowly would only leave the item unused.
"""

import random
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager

CALM_SECONDS = 30.0  # after the last conflict about a user
MOST = 1_000  # users who are remembered
TURN_SECONDS = 2.0  # how long a partition waits for its turn; then it tries its luck
LONGEST_SECONDS = 0.12  # after the first conflict; each later one may be shorter
SHORTEST_SECONDS = 0.03
COURTESY_SECONDS = 0.04


class Turn:
    """Whose turn it is, in the order in which they came."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._queue: deque[object] = deque()

    def take(self) -> Callable[[], object] | None:
        """Wait for our turn, and return what ends it; None if it did not come."""
        me = object()
        with self._changed:
            self._queue.append(me)
            if self._changed.wait_for(lambda: self._queue[0] is me, TURN_SECONDS):
                return lambda: self._end(me)
            self._end(me)
            return None

    def __len__(self) -> int:
        return len(self._queue)

    def _end(self, who: object) -> None:
        with self._changed:
            self._queue.remove(who)
            self._changed.notify_all()


class Contention:
    """Whom this process met conflicts about lately. Safe among threads."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, draw: Callable[[], float] = random.random) -> None:
        """Take a clock, and what draws a number from 0 to 1."""
        self._clock = clock
        self._draw = draw
        self._lock = threading.Lock()
        self._seen: dict[str, float] = {}  # the last seen last
        self._turns: dict[str, Turn] = {}

    def note(self, users: Collection[str]) -> None:
        """Remember a conflict about these users."""
        with self._lock:
            for user in users:
                self._seen.pop(user, None)
                self._seen[user] = self._clock()
                self._turns.setdefault(user, Turn())
            for user in [*self._seen][:-MOST]:
                self._forget(user)

    def users(self) -> frozenset[str]:
        """Return the users about whom there was a conflict lately."""
        with self._lock:
            for user in [user for user, at in self._seen.items() if self._clock() - at > CALM_SECONDS]:
                self._forget(user)
            return frozenset(self._seen)

    @contextmanager
    def turn(self, users: Collection[str]) -> Iterator[None]:
        """Hold the turn of each of these users who is contended, but wait for none of them for ever."""
        with self._lock:
            turns = [self._turns[user] for user in sorted(users) if user in self._turns]
        with ExitStack() as held:
            for turn in turns:
                if end := turn.take():
                    held.callback(end)
            yield

    def waiting(self, user: str) -> int:
        """Return how many partitions have this user's turn or wait for it."""
        with self._lock:
            return len(self._turns.get(user, ()))

    def courtesy(self) -> float:
        """Return for how long to wait before a first try: a process that has just written would always be first."""
        return self._draw() * COURTESY_SECONDS

    def pause(self, conflicts: int) -> float:
        """Return for how long to wait after so many conflicts in a row: by chance, or they all meet again."""
        return self._draw() * max(SHORTEST_SECONDS, LONGEST_SECONDS / conflicts)

    def _forget(self, user: str) -> None:
        del self._seen[user], self._turns[user]
