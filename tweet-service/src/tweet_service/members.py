"""Who may tweet. Pure: the time is an argument.

Rule: whoever has a profile, since others would see nobody else. That is remembered for a moment: a profile stays until
its account is deleted, and what is posted that much later is erased with the rest.
"""

from collections.abc import Callable

from contracts.profiles import DeletedAccountError, NoProfileError
from tweet_service.audience import Accounts

REMEMBERED_SECONDS = 1.0
MOST_REMEMBERED = 10_000


class Members:
    """Who has a profile. Safe among threads."""

    def __init__(self, accounts: Accounts, clock: Callable[[], float]) -> None:
        """clock: never steps back."""
        self._accounts = accounts
        self._clock = clock
        self._until: dict[str, float] = {}

    def check(self, user_id: str) -> None:
        """Raise what keeps this user from tweeting; nothing but a profile is remembered."""
        now = self._clock()
        if self._until.get(user_id, now) > now:
            return
        author = self._accounts.authors([user_id], user_id)[user_id]
        if author.deleted:
            raise DeletedAccountError(user_id)
        if author.profile is None:
            raise NoProfileError
        if len(self._until) >= MOST_REMEMBERED:
            self._until.clear()
        self._until[user_id] = now + REMEMBERED_SECONDS
