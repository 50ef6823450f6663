"""Patience with what is throttled: a write waits as long as its request may, and few of them wait at once.

Rule: who waits holds a thread of the process. So at most a few do, and others are told at once to come again: writes to
one hot key never keep everybody else's requests waiting.
"""

from __future__ import annotations

import random
import time
from threading import BoundedSemaphore
from typing import TYPE_CHECKING, TypeVar

from murmuration_runtime import deadlines

if TYPE_CHECKING:
    from collections.abc import Callable

Answer = TypeVar("Answer")
TRIES = 6
PAUSE_SECONDS = 0.05  # the longest first pause; each may be twice as long as the one before
AT_ONCE = 4  # who may wait, of the sixteen threads of an edge
_places = BoundedSemaphore(AT_ONCE)


def wait_out(
    write: Callable[[], Answer],
    is_throttled: Callable[[Exception], bool],
    sleep: Callable[[float], object] = time.sleep,
) -> Answer:
    """Write; while that is throttled, wait and try again, if there is time and a place to wait in; else raise it."""
    tried, has_place = 0, False
    try:
        while True:
            try:
                return write()
            except Exception as error:
                tried += 1
                pause = random.uniform(0.5, 1) * PAUSE_SECONDS * 2 ** (tried - 1)
                if not is_throttled(error) or tried == TRIES or not deadlines.allows(pause):
                    raise
                has_place = has_place or _places.acquire(blocking=False)
                if not has_place:
                    raise
            sleep(pause)
    finally:
        if has_place:
            _places.release()
