"""How tests, drills and benchmarks wait: by deadline, for what they want to see."""

import time
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")
ANYTHING_TRUE: Any = object()


def eventually(
    probe: Callable[[], T], expected: object = ANYTHING_TRUE, within: float = 30.0, every: float = 0.05
) -> T:
    """Wait until the probe returns what is expected, or anything true; return it, or fail with what came last."""
    deadline = time.monotonic() + within
    while True:
        found = probe()
        if found if expected is ANYTHING_TRUE else found == expected:
            return found
        if time.monotonic() > deadline:
            wanted = "" if expected is ANYTHING_TRUE else f", not {expected!r}"
            raise AssertionError(f"after {within} s still {found!r}{wanted}: {probe}")
        time.sleep(every)


def steadily(probe: Callable[[], object], expected: object, during: float = 3.0, every: float = 0.1) -> None:
    """Fail unless the probe returns what is expected all this time."""
    began = time.monotonic()
    while time.monotonic() - began < during:
        found = probe()
        if found != expected:
            raise AssertionError(f"after {time.monotonic() - began:.1f} s {found!r}, not {expected!r}")
        time.sleep(every)


def remaining(differences: Callable[[], list[str]], within: float, every: float = 1.0) -> list[str]:
    """Look until no differences are left or time is up; return those of the last look."""
    deadline = time.monotonic() + within
    while (found := differences()) and time.monotonic() < deadline:
        time.sleep(every)
    return found
