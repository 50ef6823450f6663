"""Who people are. Pure: rules and errors, no clock, no I/O.

Rule: an account is deleted once and for good. To everybody else it is then nobody, and it adds nothing any more. Who
has no profile adds nothing either: nobody could see who it was.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Protocol

from contracts.ids import is_user_id
from contracts.profiles import DeletedAccountError, Profile
from murmuration_edge import texts

LONGEST_NAME = 50


class UnknownUserError(Exception):
    """There is no profile with this id, or no longer."""


class Profiles(Protocol):
    """What must be remembered of people."""

    def profile(self, user_id: str) -> Profile | None:
        """Return the profile, strongly consistent; None if there is none, or no longer."""

    def profiles(self, user_ids: Collection[str]) -> Mapping[str, Profile]:
        """Return those of these profiles that there are, strongly consistent."""

    def save_profile(
        self, user_id: str, display_name: str, is_private: bool | None, now: int
    ) -> tuple[Profile, bool] | None:
        """Create or change a profile, None leaving its privacy as it is; the flag tells whether it was created.

        None if the account is deleted.
        """

    def delete_account(self, user_id: str, now: int) -> None:
        """Mark the account as deleted, and its tweets as due to be; marks that are there stay."""


def save(
    profiles: Profiles, user_id: str, display_name: str, is_private: bool | None, now: int
) -> tuple[Profile, bool]:
    """Create the profile, or change its name and whether it is private."""
    name = texts.checked("display_name", display_name, LONGEST_NAME, lines=False)
    saved = profiles.save_profile(user_id, name, is_private, now)
    if saved is None:
        raise DeletedAccountError(user_id)
    return saved


def known(profiles: Profiles, user_id: str) -> Profile:
    """Return the profile of somebody who must exist."""
    profile = profiles.profile(user_id) if is_user_id(user_id) else None
    if profile is None:
        raise UnknownUserError(f"There is no user {user_id!r}.")
    return profile


def some(profiles: Profiles, user_ids: Iterable[str]) -> list[Profile]:
    """Return the profiles of those who have one, each once, in the order asked."""
    wanted = dict.fromkeys(user_id for user_id in user_ids if is_user_id(user_id))
    found = profiles.profiles(wanted)
    return [found[user_id] for user_id in wanted if user_id in found]
