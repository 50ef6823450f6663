"""What a page of suggestions promises, whatever happened since its list was made."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from contracts.profiles import Display, Profile
from follow_service.people import Seen
from follow_service.suggestions import Listed, Looked, from_cursor, page, to_cursor
from murmuration_edge.cursors import BadCursorError, encode
from murmuration_suggested.layout import Suggestion

PEOPLE = [f"u{n}" for n in range(40)]
FRIENDS = ["ana", "ben", "cleo"]
ME = PEOPLE[0]  # even if a list names its owner
VERSION = "20261119T010000Z"

people = st.sets(st.sampled_from(PEOPLE))
reasons = st.lists(st.sampled_from(FRIENDS), unique=True).map(tuple)
lists = st.lists(st.sampled_from(PEOPLE), unique=True).flatmap(
    lambda ids: st.tuples(*(st.builds(lambda who, why, more: Suggestion(who, len(why) + more, why),
                                      st.just(each), reasons, st.integers(0, 9)) for each in ids)).map(list)
)  # fmt: skip


def profile(user_id):
    return Profile(user_id, user_id.title(), False, 0, 0, 1, Display("0", "0"))


class Tables:
    """Whom nobody may suggest by now, and which friends are followed; how often and for how many they were asked."""

    def __init__(self, unfit=(), followed=FRIENDS):
        self.unfit, self.followed, self.asked = {*unfit}, {*followed}, []

    def look(self, user_id, people, friends):
        assert user_id == ME
        self.asked.append(len(people))
        return Looked(
            {each: Seen(profile(each), False) for each in people if each not in self.unfit},
            {each: profile(each) for each in friends if each in self.followed},
        )


def walk(tables, listed, limit):
    """Return all pages of a list."""
    pages, place = [], 0
    while place is not None:
        found = page(tables, ME, listed, limit, place)
        pages.append([each.suggestion.user_id for each in found.rows])
        place = found.rest
    return pages


@given(lists, people, st.integers(1, 50))
def test_nobody_is_suggested_whom_they_must_not_be_and_pages_are_full(suggestions, unfit, limit):
    """Each of the others once, in the order of the list; every page but the last has as many as were asked for."""
    pages = walk(Tables(unfit), Listed(VERSION, suggestions), limit)
    wanted = [each.user_id for each in suggestions if each.user_id not in unfit | {ME}]
    assert [each for found in pages for each in found] == wanted
    assert all(len(found) == limit for found in pages[:-1])
    assert pages[-1] or pages == [[]]


@given(lists, people, st.integers(1, 9), st.integers(1, 9), people)
def test_what_happens_between_two_pages_hides_and_repeats_nobody_else(suggestions, unfit, first, second, later):
    """A cursor is a place: whoever may be suggested all the while is shown once."""
    one = page(Tables(unfit), ME, Listed(VERSION, suggestions), first)
    shown = [each.suggestion.user_id for each in one.rows]
    if one.rest is not None:
        tables = Tables(unfit | later)
        while (place := one.rest) is not None:
            one = page(tables, ME, Listed(VERSION, suggestions), second, place)
            shown += [each.suggestion.user_id for each in one.rows]
    assert len(shown) == len({*shown})
    assert {each.user_id for each in suggestions} - unfit - later - {ME} <= {*shown}


@given(lists, st.sets(st.sampled_from(FRIENDS)))
def test_reasons_are_friends_who_are_still_followed(suggestions, followed):
    """Whoever was unfollowed is named no more, and counted no more."""
    found = page(Tables(followed=followed), ME, Listed(VERSION, suggestions), 50)
    made = {each.user_id: each for each in suggestions}
    for row in found.rows:
        before = made[row.suggestion.user_id]
        assert row.suggestion.because == tuple(each for each in before.because if each in followed)
        assert before.count - row.suggestion.count == len(before.because) - len(row.suggestion.because)
        assert [each.user_id for each in row.friends] == [*row.suggestion.because]


def test_a_page_of_which_few_are_gone_is_looked_at_twice():
    """First as many as it needs, then a few more."""
    suggestions = [Suggestion(each) for each in PEOPLE]
    tables = Tables(PEOPLE[5:7])
    page(tables, ME, Listed(VERSION, suggestions), 20)
    assert tables.asked == [20, 10]


@given(st.integers(0, 999_999), st.sampled_from([VERSION, "online"]))
@example(0, "online")
def test_a_cursor_comes_back_as_it_was_given(place, name):
    """Whichever list it is of."""
    assert from_cursor(to_cursor(name, place)) == (name, place)


@pytest.mark.parametrize(
    "text", ["", "online", "online -1", "online 1 2", "x 1", f"{VERSION} 1000000", "online \u0661"]
)
def test_a_cursor_that_was_not_handed_out_is_refused(text):
    """Whatever is in it."""
    with pytest.raises(BadCursorError):
        from_cursor(encode(text))
