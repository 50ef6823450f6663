"""What clients hand back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from murmuration_edge.cursors import BadCursorError
from timeline_service.cursors import read_cursor, write_cursor


@given(st.integers(10**18, 10**19 - 1))
def test_cursors_come_back_as_they_went(tweet_id):
    """Opaque to clients, exact to us."""
    assert read_cursor(write_cursor(str(tweet_id))) == str(tweet_id)


@pytest.mark.parametrize(
    "cursor", ["x", "====", "bm90IG91cnM", "é", write_cursor("9" * 20), write_cursor("-1"), write_cursor("5")]
)
def test_a_foreign_cursor_is_refused(cursor):
    """A cursor that was not handed out is the client's error."""
    with pytest.raises(BadCursorError, match="next_cursor"):
        read_cursor(cursor)
