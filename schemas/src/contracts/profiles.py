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
_UNITS = {10**9: "B", 10**6: "M", 10**3: "K"}


class NoProfileError(Exception):
    """Whoever asks has no profile."""

    def __init__(self) -> None:
        super().__init__("You have no profile. Create one with PUT /v1/users/me.")


class DeletedAccountError(Exception):
    """Whoever asks has deleted their account."""

    def __init__(self, user_id: str) -> None:
        super().__init__(f"The account {user_id} was deleted, for good. Use another account.")


@dataclass(frozen=True)
class Display:
    """Both counts of a profile as people show them."""

    followers_count: str
    following_count: str

    @classmethod
    def of(cls, followers_count: int, following_count: int) -> "Display":
        """Return what is shown for these counts."""
        return cls(as_shown(followers_count), as_shown(following_count))


@dataclass(frozen=True)
class Profile:
    """What everyone may know of a person."""

    user_id: str
    display_name: str
    is_private: bool
    followers_count: int
    following_count: int
    created_at: int
    display: Display


def as_shown(count: int) -> str:
    """Return a count as people show it: below a thousand exact, then with one decimal at most, and never rounded up."""
    for size, unit in _UNITS.items():
        if count >= size:
            whole, tenth = divmod(count * 10 // size, 10)
            return f"{whole}.{tenth}{unit}" if tenth else f"{whole}{unit}"
    return str(count)


def read_profile(row: Mapping[str, Any]) -> Profile | None:
    """Read the profile of a row as DynamoDB gives it, if it has one; PROJECTION is what must have been read."""
    if USERS.created_at not in row or USERS.deleted_at in row:
        return None
    followers_count = int(row.get(USERS.followers_count, _NONE)["N"])
    following_count = int(row.get(USERS.following_count, _NONE)["N"])
    return Profile(
        user_id=row[USERS.user_id]["S"],
        display_name=row[USERS.display_name]["S"],
        is_private=row[USERS.is_private]["BOOL"],
        followers_count=followers_count,
        following_count=following_count,
        created_at=int(row[USERS.created_at]["N"]),
        display=Display.of(followers_count, following_count),
    )
