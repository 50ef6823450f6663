"""Who people are. Pure: rules and errors, no clock, no I/O.

Rule: an account is deleted once and for good. To everybody else it is then nobody, and it adds nothing any more. Who
has no profile adds nothing either: nobody could see who it was.
"""

from dataclasses import dataclass
from typing import Protocol

from contracts.profiles import DeletedAccountError, NoProfileError, Profile
from murmuration_edge import texts

LONGEST_NAME = 50


class UnknownUserError(Exception):
    """There is no profile with this id, or no longer; or its owner has blocked whoever asks, which nobody can tell."""

    def __init__(self, user_id: str) -> None:
        super().__init__(f"There is no user {user_id!r}.")


@dataclass(frozen=True)
class OwnProfile(Profile):
    """A person's own profile, with what only they are shown."""

    discoverable: bool


@dataclass(frozen=True)
class Account:
    """What is allowed to somebody depends on this."""

    exists: bool = False
    deleted: bool = False
    is_private: bool = False
    following_count: int = 0

    def check_member(self, user_id: str) -> None:
        """Refuse a caller whom others could not look at."""
        if self.deleted:
            raise DeletedAccountError(user_id)
        if not self.exists:
            raise NoProfileError


class Profiles(Protocol):
    """What must be remembered of one's own account."""

    def own(self, user_id: str) -> OwnProfile | None:
        """Return one's own profile, strongly consistent; None if there is none, or no longer."""

    def account(self, user_id: str) -> Account:
        """Return what is allowed to somebody, strongly consistent."""

    def save(
        self, user_id: str, display_name: str, is_private: bool | None, discoverable: bool | None, now: int
    ) -> OwnProfile | None:
        """Create or change a profile, None leaving its part as it is; None if the account is deleted.

        When a private account turns public, requests to follow it are due to be accepted.
        """

    def delete(self, user_id: str, now: int) -> None:
        """Mark the account as deleted, and what it leaves as due to be; without a profile nothing is written."""


def save(
    profiles: Profiles, user_id: str, display_name: str, is_private: bool | None, discoverable: bool | None, now: int
) -> OwnProfile:
    """Create the profile, or change what is given."""
    name = texts.checked("display_name", display_name, LONGEST_NAME, lines=False)
    saved = profiles.save(user_id, name, is_private, discoverable, now)
    if saved is None:
        raise DeletedAccountError(user_id)
    return saved


def own(profiles: Profiles, user_id: str) -> OwnProfile:
    """Return the caller's own profile."""
    profile = profiles.own(user_id)
    if profile is None:
        raise UnknownUserError(user_id)
    return profile
