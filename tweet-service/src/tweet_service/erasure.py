"""Deleting the tweets of accounts that were deleted. Pure: time and pace are arguments.

Rule: an account is due until a whole look at its tweets, begun when no token of it can be valid any more, finds none.
All else is repeating: whatever crashed, ran twice, or came late, the next look finds what is left.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from tweet_service.tweets import Store

AGAIN_MS = 30_000  # between two looks at one account


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
class Turn:
    """What came of a turn: how many are due, tweets deleted by author, who is done with, whether to go on at once."""

    due: int
    deleted: dict[str, int]
    erased: list[str]
    unfinished: bool


@dataclass
class _Look:
    """How far the look at an account's tweets is, and what it found."""

    begins: int
    below: str | None = None
    found: int = 0


@dataclass
class Erasure:
    """Looks at the tweets of all that are due, a page of each in turn: one with very many keeps nobody waiting."""

    accounts: DeletedAccounts
    tweets: Store
    now: Callable[[], int]
    pace: Callable[[], object]
    settled_ms: int
    _looks: dict[Due, _Look] = field(default_factory=dict)

    def turn(self) -> Turn:
        """Take a page of every account that is due and was not looked at just now."""
        self.pace()
        self._looks = {due: self._looks.get(due) or _Look(self.now()) for due in self.accounts.due()}
        deleted: dict[str, int] = {}
        erased = []
        for due, look in self._looks.items():
            if look.begins > self.now():
                continue
            if count := self._take_page(due, look):
                deleted[due.author_id] = count
            if look.below is None:
                if not look.found and look.begins >= due.deleted_at + self.settled_ms:
                    self.pace()
                    self.accounts.erased(due)
                    erased.append(due.author_id)
                self._looks[due] = _Look(self.now() + AGAIN_MS)
        unfinished = any(look.below is not None for look in self._looks.values())
        return Turn(len(self._looks), deleted, erased, unfinished)

    def _take_page(self, due: Due, look: _Look) -> int:
        self.pace()
        found, below = self.tweets.undeleted(due.author_id, look.below)
        for tweet_id in found:
            self.pace()
            self.tweets.mark_deleted(tweet_id, self.now())
        look.below = below
        look.found += len(found)
        return len(found)
