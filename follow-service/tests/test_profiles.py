"""Who people are, without any store."""

import pytest

from contracts.profiles import DeletedAccountError
from follow_service.profiles import UnknownUserError, known, save
from murmuration_edge.texts import UnfitTextError


@pytest.mark.parametrize("name", ["", "   ", "x" * 51, "\u200b", "Al\u202eice", "Al\nice", "Alice\n", "Al\u200bice"])
def test_a_name_is_fit_to_be_shown(memory, name):
    """A display name has 1 to 50 characters besides the white space around it, one of which is to be seen."""
    with pytest.raises(UnfitTextError, match="display_name"):
        save(memory, "alice", name, None, 1)


def test_a_name_is_kept_in_one_way_to_write_it(memory):
    """Without the white space around it."""
    profile, _ = save(memory, "alice", " Zoe\u0301 ", None, 1)
    assert profile.display_name == memory.profile("alice").display_name == "Zo\u00e9"


def test_a_deleted_account_is_nobody_and_does_not_come_back(memory):
    """Neither under its old name nor under another."""
    save(memory, "alice", "Alice", None, 1)
    memory.delete_account("alice", 2)
    with pytest.raises(UnknownUserError, match="alice"):
        known(memory, "alice")
    with pytest.raises(DeletedAccountError, match="alice"):
        save(memory, "alice", "Alicia", None, 3)
