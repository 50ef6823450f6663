"""A machine that has no thread left to give."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

TOO_LARGE = 1 << 47  # bytes of stack: more than there are addresses for


@contextmanager
def no_new_threads() -> Iterator[None]:
    """Let every start of a thread fail in this process, as the system would."""
    usual = threading.stack_size(TOO_LARGE)
    try:
        yield
    finally:
        threading.stack_size(usual)
