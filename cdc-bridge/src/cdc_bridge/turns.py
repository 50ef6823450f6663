"""Readers that take turns on a few threads. Stdlib only.

Rule: a reader that waits, be it for a pause or for Kafka, holds no thread. One that hangs in a call holds one, and no
other reader waits for it while a thread is left.
"""

import heapq
import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future
from functools import partial
from itertools import count
from typing import Protocol

_log = logging.getLogger(__name__)


class Reader(Protocol):
    """Work in steps; shard_reader.ShardReader."""

    def step(self) -> float | None:
        """Work on for a while; return in how many seconds the next step is due, or None at the end."""


class Turns:
    """Takes each reader's steps when they are due, one at a time; safe among threads."""

    def __init__(self, threads: Executor, clock: Callable[[], float] = time.monotonic) -> None:
        self._threads = threads
        self._clock = clock
        self._ended: dict[Reader, Callable[[], None]] = {}
        self._woken: set[Reader] = set()
        self._waiting: list[tuple[float, int, Reader]] = []  # a heap: when the next step is due, then who came first
        self._numbers = count()
        self._changed = threading.Condition()
        self._closed = False
        threading.Thread(target=self._take_what_is_due, name="turns", daemon=True).start()

    def begin(self, reader: Reader, ended: Callable[[], None]) -> None:
        """Take the reader's steps until it ends, and say so."""
        self._ended[reader] = ended
        self._take(reader)

    def wake(self, reader: Reader) -> None:
        """Let the reader's next step be due at once."""
        with self._changed:
            self._woken.add(reader)
            self._waiting = [(0 if it is reader else due, number, it) for due, number, it in self._waiting]
            heapq.heapify(self._waiting)
            self._changed.notify()

    def close(self) -> None:
        """Take no more steps of readers that wait."""
        with self._changed:
            self._closed = True
            self._changed.notify()

    def _take(self, reader: Reader) -> None:
        self._threads.submit(reader.step).add_done_callback(partial(self._took, reader))

    def _took(self, reader: Reader, step: Future[float | None]) -> None:
        if error := step.exception():
            _log.error("a shard's reader failed; its lease runs out", exc_info=error)
        pause = None if error else step.result()
        if pause is None:
            self._woken.discard(reader)
            self._ended.pop(reader)()
            return
        with self._changed:
            if pause and reader not in self._woken:
                heapq.heappush(self._waiting, (self._clock() + pause, next(self._numbers), reader))
                self._changed.notify()
                return
            self._woken.discard(reader)
        self._take(reader)

    def _take_what_is_due(self) -> None:
        while True:
            with self._changed:
                while not self._closed and (pause := self._next_is_due_in()) != 0:
                    self._changed.wait(pause)
                if self._closed:
                    return
                _, _, reader = heapq.heappop(self._waiting)
            self._take(reader)

    def _next_is_due_in(self) -> float | None:
        return max(0, self._waiting[0][0] - self._clock()) if self._waiting else None
