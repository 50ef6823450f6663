"""Who people are, on tables in memory."""

import pytest

from contracts.profiles import DeletedAccountError
from follow_service.profiles import UnknownUserError, own, save
from murmuration_edge.texts import UnfitTextError


@pytest.fixture
def profiles(graph):
    return graph.profiles


@pytest.mark.parametrize("name", ["", "   ", "x" * 51, "\u200b", "Al\u202eice", "Al\nice", "Alice\n", "Al\u200bice"])
def test_a_name_is_fit_to_be_shown(profiles, name):
    """A display name has 1 to 50 characters besides the white space around it, one of which is to be seen."""
    with pytest.raises(UnfitTextError, match="display_name"):
        save(profiles, "alice", name, None, None, 1)


def test_a_name_is_kept_in_one_way_to_write_it(profiles):
    """Without the white space around it."""
    profile = save(profiles, "alice", " Zoe\u0301 ", None, None, 1)
    assert profile.display_name == own(profiles, "alice").display_name == "Zo\u00e9"


def test_a_deleted_account_is_nobody_and_does_not_come_back(profiles):
    """Neither under its old name nor under another."""
    save(profiles, "alice", "Alice", None, None, 1)
    profiles.delete("alice", 2)
    with pytest.raises(UnknownUserError, match="alice"):
        own(profiles, "alice")
    with pytest.raises(DeletedAccountError, match="alice"):
        save(profiles, "alice", "Alicia", None, None, 3)
