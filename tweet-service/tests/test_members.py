"""Who may tweet, without any store."""

import pytest

from contracts.profiles import DeletedAccountError, NoProfileError
from tweet_service import members


def test_a_deleted_account_is_refused_at_once(accounts):
    """Whoever tweeted just before."""
    members.check(accounts, "alice")
    accounts.delete("alice", 1)
    with pytest.raises(DeletedAccountError, match="alice"):
        members.check(accounts, "alice")


def test_who_joins_may_tweet_at_once(accounts):
    """That somebody has no profile is not remembered."""
    with pytest.raises(NoProfileError, match="PUT"):
        members.check(accounts, "dave")
    accounts.join("dave")
    members.check(accounts, "dave")
