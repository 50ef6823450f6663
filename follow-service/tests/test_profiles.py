"""Who people are, without any store."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from follow_service.profiles import BadNameError, DeletedAccountError, UnknownUserError, is_user_id, known, save


@pytest.mark.parametrize("name", ["", "   ", "x" * 51])
def test_a_name_is_neither_blank_nor_endless(memory, name):
    """A display name has 1 to 50 characters besides the white space around it."""
    with pytest.raises(BadNameError, match="1 to 50"):
        save(memory, "alice", name, None, 1)


def test_a_deleted_account_is_nobody_and_does_not_come_back(memory):
    """Neither under its old name nor under another."""
    save(memory, "alice", "Alice", None, 1)
    memory.delete_account("alice", 2)
    with pytest.raises(UnknownUserError, match="alice"):
        known(memory, "alice")
    with pytest.raises(DeletedAccountError, match="alice"):
        save(memory, "alice", "Alicia", None, 3)


@given(st.text())
def test_ids_are_safe_in_keys_urls_and_hash_tags(text):
    """No brace, slash, space or control character ever gets into an id."""
    if is_user_id(text):
        assert text.isascii()
        assert text.isprintable()
        assert not set(text) & set("{}/ ?#%&")
