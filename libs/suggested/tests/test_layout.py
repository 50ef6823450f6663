"""A list comes back as it was written."""

from hypothesis import given
from hypothesis import strategies as st

from contracts.ids import USER_ID
from murmuration_suggested import layout
from murmuration_suggested.layout import Suggestion, from_text, to_text
from murmuration_suggested.runs import Run

ids = st.from_regex(USER_ID, fullmatch=True)
suggestions = st.builds(Suggestion, ids, st.integers(0, 5_000), st.lists(ids, max_size=3, unique=True).map(tuple))


@given(st.lists(suggestions, max_size=20), st.integers(0, 21), st.integers(0, 21))
def test_a_list_comes_back_as_it_was_written(written, begin, end):
    """Whoever is in it, whatever their ids are made of; and each part of it."""
    read = from_text(to_text(written))
    assert (read, len(read), read[begin:end]) == (written, len(written), written[begin:end])
    assert read != [*written, Suggestion("another")]


def test_who_is_named_often_is_written_once():
    """A hundred suggestions are mostly for the sake of the same few people."""
    friend = "a-friend-with-a-rather-long-id"
    assert to_text([Suggestion(f"u{n}", 1, (friend,)) for n in range(100)]).count(friend) == 1


@given(ids)
def test_the_version_of_a_key_is_found(user_id):
    """Whatever the id is made of."""
    assert layout.version_of(layout.suggested(user_id, "20261119T165735Z")) == "20261119T165735Z"


def test_a_run_comes_back_as_it_was_written():
    """And what a later release may add is left out."""
    run = Run("20261119T165735Z", 1_795_107_455_000, 7, ("ana", "ben"), ("too few people",))
    assert Run.from_text(run.to_text()) == run
    assert Run.from_text(run.to_text().replace("{", '{"added_later": 1, ', 1)) == run
