"""Accepting what was pending when a private account went public. Pure.

Rule: each request is accepted as its account could have done it by hand, if it still stands and the account is still
public. Who follows as many as anybody may goes on asking. An account that turns private again is due no more.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from follow_service import follows
from follow_service.follows import Edge
from murmuration_runtime.looks import Looks


@dataclass(frozen=True)
class Opened:
    """An account that went public, and when."""

    user_id: str
    opened_at: int


class Pending(Protocol):
    """What accounts that went public have pending, strongly consistent."""

    def due(self) -> list[Opened]:
        """List the accounts that went public, and are, of whose requests some may be open."""

    def asking(self, user_id: str, after: str | None) -> tuple[list[str], str | None]:
        """Return some of those who ask to follow an account, and after whom to go on; None at the end."""

    def opened(self, due: Opened) -> None:
        """Take an account off the list, unless it turned private since."""


@dataclass(frozen=True)
class Openings:
    """The requests of all accounts that are due, as work for Looks."""

    store: Pending
    follows: follows.Store
    now: Callable[[], int]
    pace: Callable[[], object]
    settled_ms: int
    cap: int

    def looks(self) -> Looks[Opened, str]:
        """Return what does this work."""
        return Looks(self, self.now, self.pace)

    def due(self) -> list[Opened]:
        """List the accounts."""
        return self.store.due()

    def settled_at(self, due: Opened) -> int:
        """Return when requests that were under way have come."""
        return due.opened_at + self.settled_ms

    def take(self, due: Opened, place: str | None) -> tuple[int, str | None]:
        """Accept some requests; return how many came to an end."""
        asking, rest = self.store.asking(due.user_id, place)
        ended = 0
        for follower_id in asking:
            self.pace()
            ended += follows.admit(self.follows, Edge(follower_id, due.user_id), self.now(), self.cap)
        return ended, rest

    def finish(self, due: Opened) -> None:
        """Take an account off the list."""
        self.store.opened(due)
