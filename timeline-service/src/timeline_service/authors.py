"""Whose tweets somebody reads: of themselves, and of whom they follow and have not muted. Pure.

Rule: nobody who has blocked, or is blocked, is followed: a block takes the follows of both away in its own transaction,
and the same event as for any unfollow takes them out of the timelines.
"""

from collections.abc import Container, Iterable
from typing import Protocol


class Follows(Protocol):
    """Whom everybody follows."""

    def followees(self, user_id: str, noted: Iterable[str] = ()) -> frozenset[str]:
        """Return whom the user follows: by the index, which may lag, but for the noted ones by the table itself."""


class Mutes(Protocol):
    """Whom everybody has muted."""

    def muted(self, user_id: str) -> frozenset[str]:
        """Return whom the user has muted, strongly consistent."""


def present(authors: Iterable[str], user_id: str, departed: Container[str]) -> frozenset[str]:
    """Leave out who deleted their account, but for the reader: their ids would take the place of what shows."""
    return frozenset(each for each in authors if each == user_id or each not in departed)


class Authors:
    """By the tables, as they are now."""

    def __init__(self, follows: Follows, mutes: Mutes) -> None:
        self._follows = follows
        self._mutes = mutes

    def of(self, user_id: str, noted: Iterable[str]) -> frozenset[str]:
        """Return whose tweets show to a user. noted: the followees of whom the index may not know yet."""
        followees = self._follows.followees(user_id, noted)
        return followees - self._mutes.muted(user_id) | {user_id}
