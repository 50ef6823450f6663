"""What was read below a list serves only what it is complete for."""

from hypothesis import given
from hypothesis import strategies as st

from murmuration_timelines.layout import BEGINNING
from murmuration_timelines.merge import Run
from murmuration_timelines.read_ahead import ReadAhead, authors_name

from .conftest import snowflake

places = st.integers(0, 30)


@given(st.sets(places, min_size=1), places, places, st.booleans())
def test_a_part_is_all_that_was_read_below_an_id_or_nothing(said, top, below, ends):
    """Above where it begins, and below where it ends, nothing is known."""
    ids = [snowflake(n) for n in sorted(said, reverse=True) if n < top]
    run = Run(ids, BEGINNING if ends or not ids else ids[-1])
    ahead = ReadAhead(authors_name(["ann"]), 0, snowflake(top), run)
    part = ReadAhead.read(ahead.text()).part(authors_name(["ann"]), snowflake(below))
    if below > top or snowflake(below) <= run.floor:
        assert part is None
    else:
        assert part == Run([one for one in ids if one < snowflake(below)], run.floor)


def test_what_was_read_of_others_is_of_no_use():
    """Whoever follows somebody, or no longer, has other tweets far down."""
    ahead = ReadAhead(authors_name(["ann", "bob"]), 0, snowflake(9), Run([snowflake(3)], BEGINNING))
    assert ahead.part(authors_name(["bob", "ann"]), snowflake(9))
    assert ahead.part(authors_name(["ann"]), snowflake(9)) is None
