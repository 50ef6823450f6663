"""Deleting the tweets of accounts that were deleted. Pure: time and pace are arguments.

Rule: an account is due until a whole look at its tweets, begun when no token of it can be valid any more, finds none.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from murmuration_runtime.looks import Looks
from tweet_service.tweets import Store


@dataclass(frozen=True)
class Due:
    """An account that was deleted, and when."""

    author_id: str
    deleted_at: int


class DeletedAccounts(Protocol):
    """Which accounts are due."""

    def due(self) -> list[Due]:
        """List the deleted accounts whose tweets may not all be deleted yet."""

    def erased(self, due: Due) -> None:
        """Take an account off the list, if it is there."""


@dataclass(frozen=True)
class Erasure:
    """The tweets of all accounts that are due, as work for Looks."""

    accounts: DeletedAccounts
    tweets: Store
    now: Callable[[], int]
    pace: Callable[[], object]
    settled_ms: int

    def looks(self) -> Looks[Due, str]:
        """Return what does this work."""
        return Looks(self, self.now, self.pace)

    def due(self) -> list[Due]:
        """List the accounts."""
        return self.accounts.due()

    def settled_at(self, due: Due) -> int:
        """Return when the last token has expired."""
        return due.deleted_at + self.settled_ms

    def take(self, due: Due, place: str | None) -> tuple[int, str | None]:
        """Delete a page of an account's tweets, going down."""
        found, below = self.tweets.undeleted(due.author_id, place)
        for tweet_id in found:
            self.pace()
            self.tweets.delete(tweet_id, self.now())
        return len(found), below

    def finish(self, due: Due) -> None:
        """Take an account off the list."""
        self.accounts.erased(due)
