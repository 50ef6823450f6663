"""Promises that do not hold yet: each has a test that is expected to fail, and to fail at the promise alone.

Rule: such a test is marked xfail(strict=True, raises=StillBrokenError), and only what stands in `promised` can raise
that. So neither a broken import nor a broken setup counts as "still failing"; a fault that is mended fails the test.
"""

from collections.abc import Iterator
from contextlib import contextmanager


class StillBrokenError(Exception):
    """A promise does not hold."""


@contextmanager
def promised(*errors: type[BaseException]) -> Iterator[None]:
    """Raise StillBrokenError for an assertion that fails in here, and for these errors."""
    faults: tuple[type[BaseException], ...] = (AssertionError, *errors)
    try:
        yield
    except faults as error:
        raise StillBrokenError(str(error)) from error
