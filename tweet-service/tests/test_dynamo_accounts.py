"""What is known of accounts: the same tests on what is in memory and on DynamoDB."""

import os

import pytest

from contracts.profiles import Profile
from murmuration_runtime.dynamo import client
from tweet_service.audience import Author
from tweet_service.erasure import Due

from .memory import MemoryAccounts
from .written_accounts import WrittenAccounts

TABLE_PREFIX = os.environ.get("TABLE_PREFIX", "")


class AccountsPromises:
    """Subclassed by one class for each."""

    def test_an_author_is_what_their_account_is(self, accounts, somebody):
        """Nobody's account is an open one: tweets may be older than the need for a profile."""
        nobody, open_one, private, gone = (somebody() for _ in range(4))
        for each in (open_one, private, gone):
            accounts.join(each)
        accounts.set_private(private)
        accounts.delete(gone, 1)
        expected = {
            nobody: Author(),
            open_one: Author(profile=Profile(open_one, "Somebody", False, 0, 0, 1)),
            private: Author(is_private=True, profile=Profile(private, "Somebody", True, 0, 0, 1)),
            gone: Author(deleted=True),
        }
        assert {each: accounts.author(each) for each in expected} == accounts.authors({*expected}) == expected
        assert accounts.authors([]) == {}

    def test_a_follow_has_a_direction(self, accounts, somebody):
        """Whoever is followed does not follow."""
        alice, bob = somebody(), somebody()
        accounts.add_follow(alice, bob)
        assert accounts.follows(alice, bob)
        assert not accounts.follows(bob, alice)
        assert accounts.followees_among(alice, {bob, somebody()}) == {bob}
        assert accounts.followees_among(bob, {alice}) == set()

    def test_a_deleted_account_is_due_until_it_is_erased(self, accounts, somebody):
        """Which may be told twice; an account with another date of deletion stays as it is."""
        alice = Due(somebody(), 5)
        accounts.delete(alice.author_id, alice.deleted_at)
        assert alice in accounts.due()
        for _ in range(2):
            accounts.erased(alice)
        assert alice not in accounts.due()
        assert accounts.author(alice.author_id).deleted


class TestMemoryAccounts(AccountsPromises):
    """In memory."""

    @pytest.fixture
    def accounts(self):
        return MemoryAccounts()


@pytest.mark.stack
class TestDynamoAccounts(AccountsPromises):
    """On the real tables, written as follow-service writes them."""

    @pytest.fixture
    def accounts(self):
        return WrittenAccounts(client(), TABLE_PREFIX)
