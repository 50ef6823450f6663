"""Ids: what may be one, and that their order is the order of time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.ids import BITS_BELOW_MS, EPOCH_MS, first_id, is_tweet_id, is_user_id

moments = st.integers(1_600_000_000_000, 2_900_000_000_000)  # 2020 to 2061


@given(st.text())
def test_user_ids_are_safe_in_keys_urls_and_hash_tags(text):
    """No brace, slash, space or control character ever gets into an id."""
    if is_user_id(text):
        assert text.isascii()
        assert text.isprintable()
        assert not set(text) & set("{}/ ?#%&")


@pytest.mark.parametrize(("text", "is_one"), [("", False), ("a" * 128, True), ("a" * 129, False), ("a\n", False)])
def test_a_user_id_has_1_to_128_characters(text, is_one):
    """And no line end behind them."""
    assert is_user_id(text) is is_one


@pytest.mark.parametrize("text", ["me", ".", ".."])
def test_what_means_something_else_in_a_path_is_nobodys_id(text):
    """The caller, this folder, and the one above; names that only begin so are ids."""
    assert not is_user_id(text)
    assert is_user_id(f"{text}2")


@pytest.mark.parametrize("text", ["", "1", "1" * 18, "1" * 20, "1" * 19 + "\n", "१" * 19, "-" + "1" * 18])
def test_a_tweet_id_has_19_digits(text):
    """No other length, and no digits of other scripts: texts would not sort as numbers do."""
    assert not is_tweet_id(text)


@given(moments, moments)
def test_ids_as_texts_sort_as_their_moments_do(one, other):
    """Whatever the bits below the millisecond are."""
    last = str(int(first_id(one)) + (1 << BITS_BELOW_MS) - 1)
    assert is_tweet_id(first_id(one))
    assert is_tweet_id(last)
    assert (int(last) >> BITS_BELOW_MS) + EPOCH_MS == one
    assert (last < first_id(other)) == (one < other)


def test_the_first_id_of_a_moment_is_below_all_others_of_it():
    """Twenty-two bits of a snowflake are not time."""
    assert first_id(EPOCH_MS) == "0"
    assert int(first_id(EPOCH_MS + 1)) == 1 << 22
