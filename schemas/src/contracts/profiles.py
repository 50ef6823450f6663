"""What everybody may know of an account, read from its row of users. Pure.

Rule: a profile looks the same wherever it is shown. A row without created_at holds only counts, and one with deleted_at
is an account that is gone: neither has a profile.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from contracts.tables import USERS

PROJECTION = "user_id, display_name, is_private, created_at, deleted_at, followers_count, following_count"
_NONE = {"N": "0"}


class NoProfileError(Exception):
    """Whoever asks has no profile."""

    def __init__(self) -> None:
        super().__init__("You have no profile. Create one with PUT /v1/users/me.")


class DeletedAccountError(Exception):
    """Whoever asks has deleted their account."""

    def __init__(self, user_id: str) -> None:
        super().__init__(f"The account {user_id} was deleted, for good. Use another account.")


@dataclass(frozen=True)
class Profile:
    """What everyone may know of a person."""

    user_id: str
    display_name: str
    is_private: bool
    followers_count: int
    following_count: int
    created_at: int


def read_profile(row: Mapping[str, Any]) -> Profile | None:
    """Read the profile of a row as DynamoDB gives it, if it has one; PROJECTION is what must have been read."""
    if USERS.created_at not in row or USERS.deleted_at in row:
        return None
    return Profile(
        user_id=row[USERS.user_id]["S"],
        display_name=row[USERS.display_name]["S"],
        is_private=row[USERS.is_private]["BOOL"],
        followers_count=int(row.get(USERS.followers_count, _NONE)["N"]),
        following_count=int(row.get(USERS.following_count, _NONE)["N"]),
        created_at=int(row[USERS.created_at]["N"]),
    )
