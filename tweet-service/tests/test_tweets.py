"""The rules, without any store."""

import pytest

from tweet_service.tweets import BadTextError, check_text, post


@pytest.mark.parametrize(
    ("text", "named"), [("", "say something"), (" \n", "say something"), ("x" * 281, "281"), ("é" * 9_000, "bytes")]
)
def test_an_empty_or_over_long_text_is_refused(text, named):
    """The error says what is wrong with it."""
    with pytest.raises(BadTextError, match=named):
        check_text(text)


@pytest.mark.parametrize("character", ["x", "é", "e\u0301", "👩‍👩‍👧‍👦", "🇨🇭", "한"])
def test_length_is_counted_as_people_count(character):
    """A family, a flag or an accented letter is one character, however many code points it takes."""
    check_text(character * 280)
    with pytest.raises(BadTextError):
        check_text(character * 281)


def test_an_id_that_is_taken_is_never_overwritten(memory):
    """Two workers may draw the same id; the second tweet gets the next one."""
    ids = iter([("1", 5), ("1", 5), ("2", 6)])
    first = post(memory, "alice", "one", lambda: next(ids))
    second = post(memory, "bob", "two", lambda: next(ids))
    assert (first.tweet_id, second.tweet_id) == ("1", "2")
    assert memory.find("1").tweet.text == "one"
