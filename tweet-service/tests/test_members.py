"""Who may tweet, without any store."""

from types import SimpleNamespace

import pytest

from contracts.profiles import DeletedAccountError, NoProfileError
from tweet_service.members import MOST_REMEMBERED, REMEMBERED_SECONDS, Members

FRESH_SECONDS = 2.0  # docs/slo.md


@pytest.fixture
def now():
    return SimpleNamespace(seconds=5.0)


@pytest.fixture
def members(accounts, now):
    return Members(accounts, lambda: now.seconds)


def test_who_tweets_again_at_once_is_not_looked_up_again(members, accounts, now):
    """A moment later they are."""
    for _ in range(3):
        members.check("alice")
    assert accounts.asked == 1
    now.seconds += REMEMBERED_SECONDS
    members.check("alice")
    assert accounts.asked == 2


def test_a_deleted_account_is_refused_as_soon_as_everything_else_is_fresh(members, accounts, now):
    """Whoever tweeted just before."""
    members.check("alice")
    accounts.delete("alice", 1)
    now.seconds += FRESH_SECONDS
    with pytest.raises(DeletedAccountError, match="alice"):
        members.check("alice")


def test_who_joins_may_tweet_at_once(members, accounts):
    """That somebody has no profile is not remembered."""
    with pytest.raises(NoProfileError, match="PUT"):
        members.check("dave")
    accounts.join("dave")
    members.check("dave")


def test_not_everybody_is_remembered_for_ever(members, accounts):
    """A process that sees very many begins anew."""
    for n in range(MOST_REMEMBERED + 1):
        accounts.join(f"u{n}")
        members.check(f"u{n}")
    asked = accounts.asked
    members.check("u0")
    assert accounts.asked == asked + 1
