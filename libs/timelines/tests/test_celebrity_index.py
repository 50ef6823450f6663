"""Who is looked up as a celebrity."""

import pytest

from fanout_worker.deliveries import StoreAwayError
from fanout_worker.known import Known


def test_the_set_is_what_was_read_last():
    """While the store is away the old one serves."""
    answers = iter([frozenset({"bob"}), frozenset({"cat"})])

    def read():
        for answer in answers:
            return answer
        raise StoreAwayError("no route")

    known = Known(read)
    assert "bob" not in known
    known.refresh()
    assert "bob" in known
    known.refresh()
    assert ("bob" in known, "cat" in known) == (False, True)
    with pytest.raises(StoreAwayError):
        known.refresh()
    assert "cat" in known
