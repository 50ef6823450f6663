"""Who may read whose tweets. Pure.

Rule: everybody reads everybody, but of a private author only themselves and their followers read anything, and of a
deleted one nobody does. Whoever blocks the reader is as one who left; whom the reader blocks they do not read.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from contracts.profiles import Profile


class View(Enum):
    """What a reader sees of an author."""

    OPEN = "everything"
    PRIVATE = "nothing, unless they follow"
    BLOCKED = "nothing, unless they unblock"
    GONE = "nothing, for good"


@dataclass(frozen=True)
class Author:
    """What everybody knows of somebody, and how a reader stands to them."""

    is_private: bool = False
    deleted: bool = False
    profile: Profile | None = None
    followed: bool = False  # by the reader; everybody follows themselves
    blocked: bool = False  # by the reader
    blocks: bool = False  # the reader

    @property
    def view(self) -> View:
        """What the reader sees of them now."""
        if self.deleted or self.blocks:
            return View.GONE
        if self.blocked:
            return View.BLOCKED
        return View.OPEN if self.followed or not self.is_private else View.PRIVATE


class Accounts(Protocol):
    """What must be known of people, strongly consistent; follow-service keeps it."""

    def authors(self, user_ids: Collection[str], reader_id: str) -> Mapping[str, Author]:
        """Return what holds for each of these authors and this reader; of nobody, the usual."""


def profiles(authors: Mapping[str, Author], author_ids: Iterable[str]) -> list[Profile]:
    """Return the profiles of these authors, as far as they have one, each once, in this order."""
    return [profile for each in dict.fromkeys(author_ids) if (profile := authors[each].profile)]
