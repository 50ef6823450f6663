"""Constant traffic: so many follows, tweets and pages a second, whatever happens, and a count of what failed.

A client sends a request that failed once more, after a moment or after what Retry-After says; only when that fails too
has the request failed.
"""

import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Any, NamedTuple

from murmuration_testkit.crowd import NOT_ANSWERED, Crowd
from murmuration_testkit.people import Person, RefusedError

MOST_THREADS = 12
A_MOMENT_S = 0.5
LONGEST_WAIT_S = 5.0


class Rates(NamedTuple):
    """How many a second. Of the follows every fourth is an unfollow, of the tweets every fifth is deleted."""

    follows: float
    tweets: float
    pages: float


class Failure(NamedTuple):
    """A request that failed: when, at its first or its last attempt, what it was, and why."""

    at: float
    final: bool
    request: str
    why: str


class Traffic:
    """People who are busy from start to stop; where a path is asked may be changed for each request."""

    def __init__(self, rates: Rates, people: int = 24, place: Callable[[str], str] = str) -> None:
        self.crowd = Crowd(people, self._ask)
        self.sent: Counter[str] = Counter()
        self.failures: list[Failure] = []
        self._rates = rates
        self._place = place
        self._over = threading.Event()
        self._count = min(MOST_THREADS, people)  # each has people of its own
        self._threads = ThreadPoolExecutor(self._count)
        self._running: list[Future[None]] = []

    def start(self) -> None:
        """Begin."""
        self._running = [self._threads.submit(self._run, n) for n in range(self._count)]

    def stop(self) -> None:
        """Let everybody finish what they are doing."""
        self._over.set()
        for each in self._running:
            each.result()
        self._threads.shutdown()

    def failed(self, since: float = 0.0) -> list[Failure]:
        """Return the requests that failed at both attempts."""
        return [each for each in self.failures if each.final and each.at >= since]

    def mended(self, since: float = 0.0) -> int:
        """Return how many requests failed once, and were answered when they were sent again."""
        recent = [each for each in self.failures if each.at >= since]
        return sum(not each.final for each in recent) - sum(each.final for each in recent)

    def _run(self, number: int) -> None:
        mine = self.crowd.people[number :: self._count]
        acts = self._acts()
        every = self._count / sum(self._rates)
        due, turn = time.monotonic() + every * number / self._count, number
        while not self._over.wait(max(0.0, due - time.monotonic())):
            due, turn = due + every, turn + 1
            name, act = acts[turn * 7 % len(acts)]
            with suppress(*NOT_ANSWERED):  # it is noted
                act(mine[turn % len(mine)])
            self.sent[name] += 1

    def _acts(self) -> list[tuple[str, Any]]:
        """Return a round of acts in which each comes as often as its rate says."""
        crowd, (follows, tweets, pages) = self.crowd, self._rates
        shares = {
            ("follow", crowd.follow): follows * 3 / 4,
            ("unfollow", crowd.unfollow): follows / 4,
            ("tweet", crowd.tweet): tweets * 4 / 5,
            ("delete", crowd.delete): tweets / 5,
            ("page", crowd.read): pages,
        }
        length = 101  # a prime, so that the steps of every thread come to each
        drawn: list[tuple[float, tuple[str, Any]]] = []
        for place, (act, share) in enumerate(shares.items()):
            times = round(length * share / sum(self._rates))
            drawn += [((n + place / len(shares)) / times, act) for n in range(times)]
        return [act for _, act in sorted(drawn, key=lambda each: each[0])]

    def _ask(self, me: Person, method: str, path: str, **more: Any) -> Any:
        try:
            return me.ask(method, self._place(path), **more)
        except NOT_ANSWERED as error:
            self._note(error, method, path, final=False)
            asked = error.retry_after if isinstance(error, RefusedError) else None
            self._over.wait(min(LONGEST_WAIT_S, asked or A_MOMENT_S))
        try:
            return me.ask(method, self._place(path), **more)
        except NOT_ANSWERED as error:
            self._note(error, method, path, final=True)
            raise

    def _note(self, error: Exception, method: str, path: str, *, final: bool) -> None:
        self.failures.append(Failure(time.time(), final, f"{method} {path}", str(error)))
