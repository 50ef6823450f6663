"""What a timeline is, without any store."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from timeline_service.timeline import BEGINNING, CAP, BadCursorError, below, built, merged, read_cursor, write_cursor

ids = st.sets(st.integers(10**18, 10**18 + 10_000), max_size=60).map(lambda s: [str(n) for n in sorted(s)[::-1]])


@given(st.lists(ids, max_size=6))
def test_sources_merge_into_one_descending_list_without_repeats(sources):
    """Each id once, newest first."""
    expected = sorted({i for source in sources for i in source}, key=int, reverse=True)
    assert list(merged(sources)) == expected


@given(st.lists(ids, max_size=4), ids)
def test_a_small_timeline_is_whole(sources, extra):
    """While all fits, the timeline goes down to the beginning."""
    timeline = built(sources, extra, frozenset({"me"}))
    assert set(timeline.ids) == {i for source in [*sources, extra] for i in source}
    assert timeline.floor == BEGINNING


def test_a_full_timeline_ends_where_it_stops_being_complete():
    """Nothing above the floor is missing; what is below comes from the database."""
    sources = [[str(10**18 + n) for n in range(start + 2 * CAP, start, -2)] for start in (0, 1)]
    timeline = built(sources, [], frozenset())
    everything = sorted({i for source in sources for i in source}, key=int, reverse=True)
    assert timeline.ids == everything[:CAP]
    assert timeline.floor == everything[CAP - 1]


@given(ids, st.integers(10**18, 10**18 + 10_000))
def test_a_cursor_cuts_by_id_never_by_place(source, cursor):
    """Whatever was inserted above since, the next page begins where the last one ended."""
    assert below(source, str(cursor)) == [i for i in source if int(i) < cursor]


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
