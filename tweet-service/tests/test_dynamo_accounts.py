"""What is known of accounts: the same tests on what is in memory and on DynamoDB."""

import os

import pytest

from contracts.profiles import Display, Profile
from murmuration_runtime.dynamo import client
from tweet_service.audience import Author
from tweet_service.erasure import Due

from .memory import MemoryAccounts
from .written_accounts import WrittenAccounts

TABLE_PREFIX = os.environ.get("TABLE_PREFIX", "")
HOW = ("followed", "blocked", "blocks")


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
            open_one: Author(profile=Profile(open_one, "Somebody", False, 0, 0, 1, Display.of(0, 0))),
            private: Author(is_private=True, profile=Profile(private, "Somebody", True, 0, 0, 1, Display.of(0, 0))),
            gone: Author(deleted=True),
        }
        reader = somebody()
        assert {each: accounts.authors([each], reader)[each] for each in expected} == expected
        assert accounts.authors({*expected}, reader) == expected
        assert accounts.authors([], reader) == {}

    def test_a_follow_and_a_block_have_a_direction(self, accounts, somebody):
        """Of each author among many each reader learns what holds between the two; everybody follows themselves."""
        alice, bob, others = somebody(), somebody(), [somebody() for _ in range(60)]
        for other in others[:2]:
            accounts.add_follow(alice, other)
        accounts.add_block(alice, bob)
        for other in others[1:3]:
            accounts.add_block(other, alice)

        def told(reader):
            found = accounts.authors([alice, bob, *others], reader)
            return [{each for each, author in found.items() if getattr(author, how)} for how in HOW]

        assert told(alice) == [{alice, *others[:2]}, {bob}, {*others[1:3]}]
        assert told(bob) == [{bob}, set(), {alice}]
        assert told(others[1]) == [{others[1]}, {alice}, set()]

    def test_a_deleted_account_is_due_until_it_is_erased(self, accounts, somebody):
        """Which may be told twice; an account with another date of deletion stays as it is."""
        alice = Due(somebody(), 9 * 10**12)  # so late that the stack's own eraser is not done with it
        accounts.delete(alice.author_id, alice.deleted_at)
        assert alice in accounts.due()
        for _ in range(2):
            accounts.erased(alice)
        assert alice not in accounts.due()
        assert accounts.authors([alice.author_id], somebody())[alice.author_id].deleted


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
