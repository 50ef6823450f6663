"""Who may tweet. Pure.

Rule: whoever has a profile, since others would see nobody else. Nothing is remembered of that: what is posted after
the deletion of its account would be answered with 201, and be gone.
"""

from contracts.profiles import DeletedAccountError, NoProfileError
from tweet_service.audience import Accounts


def check(accounts: Accounts, user_id: str) -> None:
    """Raise what keeps this user from tweeting."""
    author = accounts.authors([user_id], user_id)[user_id]
    if author.deleted:
        raise DeletedAccountError(user_id)
    if author.profile is None:
        raise NoProfileError
