"""Waits for somebody who is away."""

import time
from collections.abc import Callable
from functools import partial
from typing import TypeVar

T = TypeVar("T")
PAUSE_S = 1.0
say = partial(print, flush=True)


def until(deadline: float, whom: str, away: tuple[type[Exception], ...], act: Callable[[], T]) -> T:
    """Act, again and again while they are away, until the deadline. What was done before is done once more, idly."""
    while True:
        try:
            return act()
        except away as error:
            if time.monotonic() >= deadline:
                raise TimeoutError(f"{whom} is away: {error}") from error
            say(f"waiting for {whom}: {error}")
            time.sleep(PAUSE_S)
