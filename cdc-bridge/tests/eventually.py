"""The only wait in these tests."""

import time


def eventually(check, within=20.0):
    """Return the first true answer of check, or fail with its last one."""
    deadline = time.monotonic() + within
    while not (answer := check()):
        assert time.monotonic() < deadline, f"still {answer!r} after {within} s: {check}"
        time.sleep(0.02)
    return answer
