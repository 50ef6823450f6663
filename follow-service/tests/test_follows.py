"""The rules, without any store."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from follow_service.follows import BadNameError, Edge, SelfFollowError, UnknownUserError, follow, is_user_id, rename


def test_nobody_follows_themselves():
    """An edge from a person to themselves cannot even be made."""
    with pytest.raises(SelfFollowError, match="alice"):
        Edge("alice", "alice")


def test_only_people_with_a_profile_can_be_followed(memory):
    """An unknown user is an error, and leaves no row."""
    with pytest.raises(UnknownUserError, match="nobody"):
        follow(memory, Edge("alice", "nobody"), 1)
    assert not memory.edges


@pytest.mark.parametrize("name", ["", "   ", "x" * 51])
def test_a_name_is_neither_blank_nor_endless(memory, name):
    """A display name has 1 to 50 characters besides the white space around it."""
    with pytest.raises(BadNameError, match="1 to 50"):
        rename(memory, "alice", name, 1)


@given(st.text())
def test_ids_are_safe_in_keys_urls_and_hash_tags(text):
    """No brace, slash, space or control character ever gets into an id."""
    if is_user_id(text):
        assert text.isascii()
        assert text.isprintable()
        assert not set(text) & set("{}/ ?#%&")
