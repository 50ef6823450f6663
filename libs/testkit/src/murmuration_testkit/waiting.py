"""How tests and drills wait: by deadline, for what they want to see."""

import time
from collections.abc import Callable


def eventually(probe: Callable[[], object], expected: object, within: float = 30.0, every: float = 0.05) -> float:
    """Wait until the probe gives what is expected; return the seconds it took, or fail with what it gave last."""
    began = time.monotonic()
    while (found := probe()) != expected:
        if time.monotonic() - began > within:
            raise AssertionError(f"after {within} s still {found!r}, not {expected!r}")
        time.sleep(every)
    return time.monotonic() - began


def steadily(probe: Callable[[], object], expected: object, during: float = 3.0, every: float = 0.1) -> None:
    """Fail unless the probe gives what is expected all this time."""
    began = time.monotonic()
    while time.monotonic() - began < during:
        found = probe()
        if found != expected:
            raise AssertionError(f"after {time.monotonic() - began:.1f} s {found!r}, not {expected!r}")
        time.sleep(every)
