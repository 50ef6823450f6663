"""Users whose rows the transactions of several partitions want at once: a bot that follows many is in all of them.

Rule: DynamoDB refuses a transaction while another one holds an item of it. So for a while after a conflict the
partitions of this process take turns at such a user, and no transaction holds more of them than it must; against other
processes there is chance, at random times.
"""

import random
import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager

CALM_SECONDS = 30.0  # after the last conflict about a user
MOST = 1_000  # users who are remembered
TURN_SECONDS = 1.0  # how long a partition waits for its turn; then it tries its luck
FIRST_SECONDS = 0.02
LONGEST_SECONDS = 0.32


class Contention:
    """Whom this process met conflicts about lately. Safe among threads."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, draw: Callable[[], float] = random.random) -> None:
        """Take a clock, and what draws a number from 0 to 1."""
        self._clock = clock
        self._draw = draw
        self._lock = threading.Lock()
        self._seen: dict[str, float] = {}  # the last seen last
        self._turns: dict[str, threading.Lock] = {}

    def note(self, users: Collection[str]) -> None:
        """Remember a conflict about these users."""
        with self._lock:
            for user in users:
                self._seen.pop(user, None)
                self._seen[user] = self._clock()
                self._turns.setdefault(user, threading.Lock())
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
                if turn.acquire(timeout=TURN_SECONDS):
                    held.callback(turn.release)
            yield

    def pause(self, conflicts: int) -> float:
        """Return for how long to wait after so many conflicts in a row: by chance, or they all meet again."""
        longest: float = min(LONGEST_SECONDS, FIRST_SECONDS * 2**conflicts)
        return self._draw() * longest

    def _forget(self, user: str) -> None:
        del self._seen[user], self._turns[user]
