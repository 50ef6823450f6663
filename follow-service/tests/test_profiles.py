"""Who people are, without any store."""

import pytest

from follow_service.profiles import BadNameError, DeletedAccountError, UnknownUserError, known, save


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
