"""What counts as seen, without any store."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.ids import first_id
from murmuration_edge.cursors import BadCursorError, encode
from murmuration_timelines.layout import BEGINNING
from murmuration_timelines.merge import Run
from timeline_service.since_mark import MOST, NOTHING, SETTLING, read_mark, write_mark

NOW = 1_700_000_000.0


def at(seconds_ago, n=0):
    """The id of a tweet of so long ago."""
    return str(int(first_id(int((NOW - seconds_ago) * 1000))) + n)


ids = st.sets(st.builds(at, st.integers(0, 90), st.integers(0, 99)), max_size=MOST)


@given(ids, ids)
def test_what_was_there_is_seen_and_what_comes_after_is_new(there, later):
    """Whatever comes above what was there is new, and so is what comes late below it, unless it is very late."""
    seen = read_mark(write_mark(Run(sorted(there, reverse=True), BEGINNING), NOW))
    assert not any(seen.is_new(tweet_id) for tweet_id in there)
    settled = at(SETTLING)
    assert all(seen.is_new(tweet_id) for tweet_id in later - there if tweet_id > settled)


@given(ids, ids)
def test_whoever_answers_next_repeats_nothing_though_they_know_less(there, here):
    """A mark names what the mark before it named: the next process may answer for all of them."""
    before = read_mark(write_mark(Run(sorted(there, reverse=True), BEGINNING), NOW))
    after = read_mark(write_mark(Run(sorted(here, reverse=True), BEGINNING), NOW, before))
    assert not any(after.is_new(tweet_id) for tweet_id in there | here)
    named = before.above | after.above
    assert all(after.is_new(at(0, 100 + n)) for n in range(3))
    if len(there | here) < MOST:
        assert {each for each in there | here if each > at(SETTLING)} <= named


@given(ids, st.data())
def test_what_was_there_and_did_not_show_is_new_if_it_is_young(there, data):
    """It may show later; what is older is as late as what comes late."""
    hidden = data.draw(st.sets(st.sampled_from(sorted(there)))) if there else set()
    seen = read_mark(write_mark(Run(sorted(there, reverse=True), BEGINNING), NOW, hidden=hidden))
    assert {each for each in there if seen.is_new(each)} == {each for each in hidden if each > at(SETTLING)}


def test_pollers_miss_nothing_when_a_worker_dies():
    """Every second tweet of 20 s, which is a session timeout of 10 s and a rebalance, comes at the end of them."""
    start = 1_700_000_000
    came = {first_id(start * 1000 + n * 500): 20 if n < 40 and n % 2 else n / 2 for n in range(80)}
    shown, seen = set(), NOTHING
    for now in range(0, 60, 2):
        there = sorted((tweet_id for tweet_id, at in came.items() if at <= now), reverse=True)
        shown.update(filter(seen.is_new, there))
        seen = read_mark(write_mark(Run(there, BEGINNING), start + now))
    assert shown == {*came}


def test_a_mark_fits_in_a_url_however_much_is_new():
    """Beyond so many ids, the older ones count as arrived."""
    there = [at(0, n) for n in range(10 * MOST)][::-1]
    mark = write_mark(Run(there, BEGINNING), NOW)
    assert len(mark) < 2_000
    seen = read_mark(mark)
    assert not any(seen.is_new(tweet_id) for tweet_id in there)
    assert seen.is_new(at(0, 10 * MOST))


def test_a_mark_of_a_part_of_a_timeline_ends_where_that_part_does():
    """What is below was not looked at, so it was there as far as anybody knows."""
    part = Run([at(0, 2), at(0, 1)], at(0, 1))
    assert not read_mark(write_mark(part, NOW)).is_new(at(0, 0))


def test_of_an_empty_timeline_everything_that_comes_is_new():
    """Even what was said long ago, by somebody who is followed now."""
    assert read_mark(write_mark(Run([], BEGINNING), NOW)).is_new(at(10**6))


@pytest.mark.parametrize("mark", ["", "x", "====", "é", encode("1"), encode("0."), encode(f"{at(0)},{at(1)}")])
def test_a_foreign_mark_is_refused(mark):
    """A mark that was not handed out is the client's error."""
    with pytest.raises(BadCursorError, match="newest"):
        read_mark(mark)
