"""Whose tweets are pushed."""

from hypothesis import given
from hypothesis import strategies as st

from murmuration_timelines.celebrities import Author

tweet_ids = st.integers(10**18, 8 * 10**18)


@given(tweet_ids, tweet_ids, tweet_ids)
def test_whatever_lies_below_since_is_pushed_and_all_else_only_in_a_demotion(tweet, since, until):
    """Exactly at the id, on the same side for everybody; a demotion pushes whatever its own id is."""
    assert Author().is_pushed(str(tweet))
    assert Author(9, str(since)).is_pushed(str(tweet)) == (tweet < since)
    assert Author(9, str(since), str(until)).is_pushed(str(tweet))
