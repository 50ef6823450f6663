"""Who may read whose tweets. Pure.

Rule: everybody reads everybody, but of a private author only themselves and their followers read anything, and of a
deleted one nobody does.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from contracts.profiles import Profile


@dataclass(frozen=True)
class Author:
    """What decides who reads somebody's tweets, and what everybody knows of them."""

    is_private: bool = False
    deleted: bool = False
    profile: Profile | None = None


class Accounts(Protocol):
    """What must be known of people; follow-service keeps it."""

    def author(self, user_id: str) -> Author:
        """Return what holds for this author, strongly consistent; of nobody, the usual."""

    def follows(self, follower_id: str, followee_id: str) -> bool:
        """Tell whether the first follows the second, strongly consistent."""


class View(Enum):
    """What a reader sees of an author."""

    OPEN = "everything"
    PRIVATE = "nothing, unless they follow"
    GONE = "nothing, for good"


def view(accounts: Accounts, author_id: str, reader_id: str) -> View:
    """Tell what the reader sees of the author now."""
    author = accounts.author(author_id)
    if author.deleted:
        return View.GONE
    if author.is_private and reader_id != author_id and not accounts.follows(reader_id, author_id):
        return View.PRIVATE
    return View.OPEN
