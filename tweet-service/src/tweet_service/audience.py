"""Who may read whose tweets. Pure.

Rule: everybody reads everybody, but of a private author only themselves and their followers read anything, and of a
deleted one nobody does.
"""

from collections.abc import Collection, Iterable, Mapping
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
    """What must be known of people, strongly consistent; follow-service keeps it."""

    def author(self, user_id: str) -> Author:
        """Return what holds for this author; of nobody, the usual."""

    def authors(self, user_ids: Collection[str]) -> Mapping[str, Author]:
        """Return what holds for each of these authors; of nobody, the usual."""

    def follows(self, follower_id: str, followee_id: str) -> bool:
        """Tell whether the first follows the second."""

    def followees_among(self, follower_id: str, user_ids: Collection[str]) -> set[str]:
        """Return whom of these users the first follows."""


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


def open_authors(accounts: Accounts, author_ids: Collection[str], reader_id: str) -> Mapping[str, Author]:
    """Return those of the authors whose view is open to the reader, in two questions at most."""
    authors = {each: author for each, author in accounts.authors(author_ids).items() if not author.deleted}
    private = {each for each, author in authors.items() if author.is_private} - {reader_id}
    closed = private - accounts.followees_among(reader_id, private) if private else private
    return {each: author for each, author in authors.items() if each not in closed}


def profiles(authors: Mapping[str, Author], author_ids: Iterable[str]) -> list[Profile]:
    """Return the profiles of these authors, as far as they have one, each once, in this order."""
    return [profile for each in dict.fromkeys(author_ids) if (profile := authors[each].profile)]
