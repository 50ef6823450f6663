"""What everybody may know of an account is read from its row, and its counts are shown as people show them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.profiles import Display, Profile, as_shown, read_profile

ROW = {
    "user_id": {"S": "alice"},
    "display_name": {"S": "Alice"},
    "is_private": {"BOOL": True},
    "created_at": {"N": "5"},
    "followers_count": {"N": "12449999"},
}
SIZES = {"K": 10**3, "M": 10**6, "B": 10**9}


def test_a_row_with_a_profile_is_read():
    """A count that is not there yet is 0."""
    profile = Profile("alice", "Alice", True, 12_449_999, 0, 5, Display("12.4M", "0"))
    assert read_profile(ROW) == profile


@pytest.mark.parametrize(
    "row", [{}, {"user_id": {"S": "a"}, "followers_count": {"N": "1"}}, {**ROW, "deleted_at": {"N": "6"}}]
)
def test_a_row_without_one_has_none(row):
    """Counts alone, or an account that is gone."""
    assert read_profile(row) is None


@pytest.mark.parametrize(
    ("count", "shown"),
    [
        (0, "0"),
        (999, "999"),
        (1_000, "1K"),
        (1_099, "1K"),
        (1_100, "1.1K"),
        (999_999, "999.9K"),
        (10**6, "1M"),
        (10**10, "10B"),
    ],
)
def test_a_count_is_shown_as_people_show_it(count, shown):
    """With one decimal at most, and none if it is 0."""
    assert as_shown(count) == shown


@given(st.integers(0, 10**12))
def test_a_count_is_never_shown_as_more_than_it_is(count):
    """And as less by no more than a tenth of its unit."""
    shown = as_shown(count)
    size = SIZES.get(shown[-1], 1)
    tenths = float(shown.rstrip("KMB")) * 10
    assert tenths * size <= count * 10 < (tenths + 1) * size or count < 1000
    assert len(shown) <= 6 or count >= 10**12
