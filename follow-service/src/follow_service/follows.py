"""Who follows whom. Pure: rules and errors, no clock, no I/O.

Rule: a follow is one row and nothing else. Counts and timelines are other services' work on that row's stream.
"""

import re
from dataclasses import dataclass
from typing import Protocol

LONGEST_NAME = 50
_USER_ID = re.compile(r"[A-Za-z0-9_.:@|~-]{1,128}")


class SelfFollowError(Exception):
    """Somebody tried to follow themselves."""


class UnknownUserError(Exception):
    """There is no profile with this id."""


class BadNameError(Exception):
    """A display name is blank or too long."""


class BadCursorError(Exception):
    """A cursor that this service did not hand out."""


class StoreAwayError(Exception):
    """The store did not answer; the same call may succeed later."""


def is_user_id(text: str) -> bool:
    """Tell whether a text can be a user's id: it travels in keys, URLs and Redis hash tags."""
    return _USER_ID.fullmatch(text) is not None


@dataclass(frozen=True)
class Edge:
    """One person following another."""

    follower_id: str
    followee_id: str

    def __post_init__(self) -> None:
        if self.follower_id == self.followee_id:
            raise SelfFollowError(f"{self.follower_id} cannot follow themselves")


@dataclass(frozen=True)
class Profile:
    """What everyone may know of a person."""

    user_id: str
    display_name: str
    is_private: bool
    followers_count: int
    following_count: int
    created_at: int


@dataclass(frozen=True)
class Followed:
    """The other end of an edge, and since when."""

    user_id: str
    followed_at: int


@dataclass(frozen=True)
class Page:
    """Some of a list, newest first, and where it goes on."""

    users: list[Followed]
    next_cursor: str | None


class Store(Protocol):
    """What the rules need remembered."""

    def profile(self, user_id: str) -> Profile | None:
        """Return the profile, strongly consistent, or None."""

    def save_profile(self, user_id: str, display_name: str, now: int) -> tuple[Profile, bool]:
        """Create or rename a profile; the flag tells whether it was created."""

    def add(self, edge: Edge, now: int) -> None:
        """Write the edge; an edge that is there keeps its time."""

    def remove(self, edge: Edge) -> None:
        """Delete the edge if it is there."""

    def followers(self, user_id: str, limit: int, cursor: str | None) -> Page:
        """List who follows this user."""

    def following(self, user_id: str, limit: int, cursor: str | None) -> Page:
        """List whom this user follows."""


def follow(store: Store, edge: Edge, now: int) -> None:
    """Follow a person who exists. Safe to repeat."""
    known(store, edge.followee_id)
    store.add(edge, now)


def unfollow(store: Store, edge: Edge) -> None:
    """Stop following somebody, whether or not they exist. Safe to repeat."""
    if is_user_id(edge.followee_id):
        store.remove(edge)


def rename(store: Store, user_id: str, display_name: str, now: int) -> tuple[Profile, bool]:
    """Create the profile, or give it another name."""
    name = display_name.strip()
    if not 1 <= len(name) <= LONGEST_NAME:
        raise BadNameError(f"display_name must have 1 to {LONGEST_NAME} characters, it has {len(name)}")
    return store.save_profile(user_id, name, now)


def known(store: Store, user_id: str) -> Profile:
    """Return the profile of somebody who must exist."""
    profile = store.profile(user_id) if is_user_id(user_id) else None
    if profile is None:
        raise UnknownUserError(f"there is no user {user_id!r}")
    return profile
