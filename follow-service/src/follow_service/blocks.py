"""Whom somebody does not want to meet, or to read. Pure: rules and errors, no clock, no I/O.

Rule: a block severs both follows and both requests in the same transaction, and while its row is there none of these
can be written: so no state lies between, and nothing has to be undone. A mute is the reader's own, and severs nothing.
Both are taken for whatever id a user can have: who was told that there is no such user could tell who blocks them.
"""

from typing import Protocol

from contracts.ids import is_user_id
from follow_service.profiles import Profiles, UnknownUserError


class OneselfError(Exception):
    """Somebody tried to block or mute themselves."""

    def __init__(self) -> None:
        super().__init__("You cannot block or mute yourself.")


class Store(Protocol):
    """What the rules need remembered."""

    def block(self, blocker_id: str, blocked_id: str, now: int) -> None:
        """Write the block, keep the time of one that is there, and sever what is between the two: all or nothing."""

    def unblock(self, blocker_id: str, blocked_id: str) -> None:
        """Delete the block if it is there."""

    def mute(self, muter_id: str, muted_id: str, now: int) -> None:
        """Write the mute, and keep the time of one that is there."""

    def unmute(self, muter_id: str, muted_id: str) -> None:
        """Delete the mute if it is there."""


def block(store: Store, profiles: Profiles, blocker_id: str, blocked_id: str, now: int) -> None:
    """Be nobody to somebody from now on, and see nothing of theirs. Safe to repeat."""
    _check(profiles, blocker_id, blocked_id)
    store.block(blocker_id, blocked_id, now)


def unblock(store: Store, blocker_id: str, blocked_id: str) -> None:
    """Take a block back; what it severed stays so. Safe to repeat, whether or not they exist."""
    if is_user_id(blocked_id):
        store.unblock(blocker_id, blocked_id)


def mute(store: Store, profiles: Profiles, muter_id: str, muted_id: str, now: int) -> None:
    """Read nothing of somebody's in one's timeline any more. Safe to repeat."""
    _check(profiles, muter_id, muted_id)
    store.mute(muter_id, muted_id, now)


def unmute(store: Store, muter_id: str, muted_id: str) -> None:
    """Take a mute back. Safe to repeat, whether or not they exist."""
    if is_user_id(muted_id):
        store.unmute(muter_id, muted_id)


def _check(profiles: Profiles, user_id: str, other_id: str) -> None:
    if user_id == other_id:
        raise OneselfError
    if not is_user_id(other_id):
        raise UnknownUserError(other_id)
    profiles.account(user_id).check_member(user_id)
