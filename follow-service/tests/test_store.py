"""What every store promises: the same tests on the one in memory and on DynamoDB."""

import base64
import os

import pytest
from botocore.awsrequest import AWSResponse

from follow_service.follows import BadCursorError, Edge, StoreAwayError
from follow_service.store import CONFLICT_ATTEMPTS, DynamoStore, client

from .memory import MemoryStore

FOREIGN_CURSORS = [
    base64.urlsafe_b64encode(text.encode()).decode()
    for text in (
        "not ours",
        "1",
        "1 ",
        "1 a b",
        "1 " + "x" * 3_000,
        "9" * 60 + " x",
        "-1 x",
        "\u0661 x",
        "[" * 2_500,
    )
]


class StorePromises:
    """Subclassed by one class for each store."""

    def test_a_profile_is_created_once_and_renamed_after(self, store, somebody):
        """The time of creation stays when the name changes."""
        alice = somebody()
        assert store.profile(alice) is None
        first, created = store.save_profile(alice, "Alice", 1)
        assert created
        second, created = store.save_profile(alice, "Alicia", 2)
        assert not created
        assert (first.created_at, second.created_at) == (1, 1)
        assert store.profile(alice) == second
        assert second.display_name == "Alicia"

    def test_following_twice_is_following_once(self, store, somebody):
        """The first row stays as it is, so its stream tells of one change only."""
        alice, bob = somebody(), somebody()
        store.add(Edge(alice, bob), 1)
        store.add(Edge(alice, bob), 2)
        assert [(row.user_id, row.followed_at) for row in store.followers(bob, 10, None).users] == [(alice, 1)]

    def test_unfollowing_twice_is_unfollowing_once(self, store, somebody):
        """Deleting what is not there is no error."""
        alice, bob = somebody(), somebody()
        store.add(Edge(alice, bob), 1)
        store.remove(Edge(alice, bob))
        store.remove(Edge(alice, bob))
        assert store.followers(bob, 10, None).users == []
        assert store.following(alice, 10, None).users == []

    @pytest.mark.parametrize("fans", [6, 7])
    def test_lists_are_complete_and_newest_first_over_pages(self, store, somebody, fans):
        """Paging from the top to the end gives each edge once, in order; no page is empty."""
        star, fans = somebody(), [somebody() for _ in range(fans)]
        for at, fan in enumerate(fans):
            store.add(Edge(fan, star), at)
        seen, cursor = [], None
        while True:
            page = store.followers(star, 3, cursor)
            assert page.users
            seen += [row.user_id for row in page.users]
            cursor = page.next_cursor
            if cursor is None:
                break
        assert seen == fans[::-1]

    @pytest.mark.parametrize("cursor", FOREIGN_CURSORS)
    def test_a_foreign_cursor_is_refused(self, store, somebody, cursor):
        """A cursor that was not handed out is the client's error, whatever is in it."""
        with pytest.raises(BadCursorError, match="next_cursor"):
            store.following(somebody(), 3, cursor)


class TestMemoryStore(StorePromises):
    """In memory."""

    @pytest.fixture
    def store(self):
        return MemoryStore()


@pytest.mark.stack
class TestDynamoStore(StorePromises):
    """On real tables."""

    @pytest.fixture
    def dynamodb(self):
        return client()

    @pytest.fixture
    def store(self, dynamodb):
        return DynamoStore(dynamodb, os.environ.get("TABLE_PREFIX", ""))

    def test_counts_that_came_before_the_profile_stay(self, store, dynamodb, somebody):
        """The aggregator may create the item first; the profile joins it."""
        alice = somebody()
        dynamodb.update_item(
            TableName=os.environ.get("TABLE_PREFIX", "") + "users",
            Key={"user_id": {"S": alice}},
            UpdateExpression="ADD followers_count :three",
            ExpressionAttributeValues={":three": {"N": "3"}},
        )
        assert store.profile(alice) is None
        profile, created = store.save_profile(alice, "Alice", 5)
        assert created
        assert (profile.followers_count, profile.following_count, profile.created_at) == (3, 0, 5)

    def test_a_transaction_on_the_item_is_waited_out(self, somebody):
        """AWS refuses an update while a transaction holds the item; DynamoDB Local never does, so it is injected."""
        store, refused = _with_conflicts(3)
        _, created = store.save_profile(somebody(), "Alice", 5)
        assert created
        assert refused == [3]

    def test_an_item_locked_for_too_long_is_named(self, somebody):
        """After some tries the caller hears that the store is busy, and may come back."""
        store, _ = _with_conflicts(CONFLICT_ATTEMPTS)
        with pytest.raises(StoreAwayError, match="locked"):
            store.save_profile(somebody(), "Alice", 5)

    def test_a_store_that_is_away_is_named(self, somebody, monkeypatch):
        """No answer within seconds is an error that invites another try."""
        monkeypatch.setenv("AWS_ENDPOINT_URL_DYNAMODB", "http://127.0.0.1:9")
        with pytest.raises(StoreAwayError, match=r"127\.0\.0\.1:9"):
            DynamoStore(client(), "").profile(somebody())


def _with_conflicts(times):
    """Build a store whose first updates are answered as AWS answers during a transaction."""
    dynamodb, refused = client(), [0]

    def refuse(request, **_):
        if refused[0] == times:
            return None
        refused[0] += 1
        response = AWSResponse(request.url, 400, {}, None)
        response._content = b'{"__type": "com.amazonaws.dynamodb.v20120810#TransactionConflictException"}'  # noqa: SLF001
        return response

    dynamodb.meta.events.register("before-send.dynamodb.UpdateItem", refuse)
    return DynamoStore(dynamodb, os.environ.get("TABLE_PREFIX", "")), refused
