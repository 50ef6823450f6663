"""Until when the work of this context must be done: set once by whoever answers, obeyed by every client of a store.

Rule: a deadline is one for all calls together, their retries included. Where nobody set one, as in workers and jobs, a
call has the patience of its client. A thread that works for somebody else's request runs in a copy of their context.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from math import inf
from threading import Lock

from murmuration_runtime.errors import StoreAwayError

LONGEST_TURN = 5.0  # seconds to wait for somebody else's, where nobody set a deadline


class DeadlineError(StoreAwayError):
    """The time is over before the stores have said all that is needed."""


class Deadline:
    """A moment of time.monotonic, and which stores are being waited for until then."""

    __slots__ = ("until", "waits_for")

    def __init__(self, until: float) -> None:
        self.until = until
        self.waits_for: list[str] = []  # appended to and removed from by several threads: both are atomic


_NONE = Deadline(inf)
_current: ContextVar[Deadline] = ContextVar("deadline", default=_NONE)


def current() -> Deadline:
    """Return the deadline of this context; one that never comes if nobody set any."""
    return _current.get()


@contextmanager
def within(seconds: float) -> Iterator[Deadline]:
    """Let all that this context does meanwhile be done in so many seconds, whatever deadline there was."""
    deadline = Deadline(time.monotonic() + seconds)
    token = _current.set(deadline)
    try:
        yield deadline
    finally:
        _current.reset(token)


def remaining(most: float) -> float:
    """Return for how many seconds a call may wait, at most so many; raise DeadlineError if the time is over."""
    if (until := _current.get().until) == inf:
        return most
    left = until - time.monotonic()
    if left <= 0:
        raise DeadlineError("the time for this request is over")
    return min(most, left)


@contextmanager
def turn(lock: Lock, doing: str) -> Iterator[bool]:
    """Hold the lock; say whether somebody else did what it guards meanwhile. DeadlineError if they take too long."""
    waited = not lock.acquire(blocking=False)
    if waited and not lock.acquire(timeout=remaining(LONGEST_TURN)):
        raise DeadlineError(f"somebody else {doing}, and is not done in time")
    try:
        yield waited
    finally:
        lock.release()


def allows(seconds: float) -> bool:
    """Tell whether so many seconds are left."""
    return time.monotonic() + seconds < _current.get().until
