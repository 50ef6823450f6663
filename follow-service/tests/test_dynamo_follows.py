"""What every store promises: the same tests on the one in memory and on DynamoDB."""

import json
import os

import pytest

from follow_service.dynamo_follows import DynamoFollows
from follow_service.follows import Account, Edge, FollowingFullError, Outcome, follow, unfollow
from murmuration_edge.cursors import BadCursorError, encode
from murmuration_runtime import traces
from murmuration_runtime.dynamo import client
from murmuration_runtime.dynamo_wire import Answer
from murmuration_runtime.errors import StoreAwayError

from .memory import MemoryStore

FOREIGN_CURSORS = ["not ours", "1", "1 ", "1 a b", "1 " + "x" * 3_000, "9" * 60 + " x", "-1 x", "\u0661 x", "[" * 2_500]
WRITES = {
    "UpdateItem": lambda store, edge: store.save_profile(edge.follower_id, "Alice", None, 5),
    "PutItem": lambda store, edge: store.add(edge, 5),
    "DeleteItem": lambda store, edge: store.remove(edge),
    "TransactWriteItems": lambda store, edge: store.accept(edge, 5),
}


class StorePromises:
    """Subclassed by one class for each store."""

    def test_a_profile_is_created_once_and_renamed_after(self, store, somebody):
        """The time of creation stays when the name changes."""
        alice = somebody()
        assert store.profile(alice) is None
        first, created = store.save_profile(alice, "Alice", None, 1)
        assert created
        second, created = store.save_profile(alice, "Alicia", None, 2)
        assert not created
        assert (first.created_at, second.created_at) == (1, 1)
        assert store.profile(alice) == second
        assert second.display_name == "Alicia"

    @pytest.mark.parametrize("private", [None, True, False])
    def test_what_is_answered_is_what_is_stored(self, store, somebody, counted, private):
        """Of a new profile and of one that changes, whatever was there before."""
        alice = somebody()
        for name in ("Alice", "Alicia 👩‍👩‍👧"):
            profile, _ = store.save_profile(alice, name, private, 5)
            assert profile == store.profile(alice)
            assert profile.display_name == name
            counted(alice, 2)

    @pytest.mark.parametrize("count", [0, 3, 102])
    def test_many_profiles_are_read_as_each_is(self, store, somebody, count):
        """However many; those who have none are left out."""
        people = [somebody() for _ in range(count)]
        for each in people[:3]:
            store.save_profile(each, "Somebody", None, 1)
        if count:
            store.delete_account(people[0], 2)
        found = store.profiles(people)
        assert found == {each: store.profile(each) for each in people[1:3]}

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

    def test_privacy_is_kept_unless_it_is_given(self, store, somebody):
        """Nobody is private at first; renaming opens nothing and closes nothing."""
        alice = somebody()
        for given, private in ((None, False), (True, True), (None, True), (False, False)):
            profile, _ = store.save_profile(alice, "Alice", given, 1)
            assert (profile.is_private, store.profile(alice).is_private) == (private, private)

    def test_a_deleted_account_stays_deleted(self, store, somebody):
        """However often it is deleted or saved."""
        alice, bob = somebody(), somebody()
        store.save_profile(alice, "Alice", None, 1)
        store.delete_account(alice, 2)
        store.delete_account(alice, 3)
        assert store.save_profile(alice, "Alice", None, 4) is None
        assert store.profile(alice) is None
        assert store.standing(Edge(alice, bob)).follower == Account(deleted=True)

    def test_how_two_stand_is_read_as_it_was_written(self, store, somebody):
        """Each of the four parts by itself."""
        alice, bob = somebody(), somebody()
        edge = Edge(alice, bob)
        nothing = store.standing(edge)
        assert (nothing.followed, nothing.requested, nothing.followee) == (False, False, Account())
        store.save_profile(bob, "Bob", True, 1)
        store.request(edge, 1)
        asked = store.standing(edge)
        assert (asked.followed, asked.requested, asked.followee) == (False, True, Account(True, is_private=True))
        store.withdraw(edge)
        store.add(edge, 1)
        follows = store.standing(edge)
        assert (follows.followed, follows.requested) == (True, False)
        assert not store.standing(Edge(bob, alice)).followed

    def test_a_request_moves_once(self, store, somebody):
        """Accepted, it is an edge of that time; there is nothing to move then, nor after it was withdrawn."""
        alice, bob = somebody(), somebody()
        edge = Edge(alice, bob)
        store.request(edge, 1)
        store.request(edge, 2)
        assert [(row.user_id, row.requested_at) for row in store.requests(bob, 10, None).users] == [(alice, 1)]
        assert store.accept(edge, 3)
        assert not store.accept(edge, 4)
        assert store.requests(bob, 10, None).users == []
        assert [(row.user_id, row.followed_at) for row in store.followers(bob, 10, None).users] == [(alice, 3)]
        store.remove(edge)
        store.request(edge, 5)
        store.withdraw(edge)
        assert not store.accept(edge, 6)
        assert store.followers(bob, 10, None).users == []

    def test_a_request_that_moves_to_an_edge_leaves_it_as_it_is(self, store, somebody):
        """The edge's time stays, and the request is gone."""
        edge = Edge(somebody(), somebody())
        store.add(edge, 1)
        store.request(edge, 2)
        assert store.accept(edge, 3)
        assert not store.standing(edge).requested
        assert [row.followed_at for row in store.following(edge.follower_id, 10, None).users] == [1]

    def test_the_cap_is_on_new_follows_alone(self, store, somebody, cap, counted):
        """Whoever reaches it keeps all, may repeat all, and begins again after an unfollow."""
        alice, bob, carol = (somebody() for _ in range(3))
        for user_id in (alice, bob, carol):
            store.save_profile(user_id, "Somebody", None, 1)
        follow(store, Edge(alice, bob), 1, cap)
        counted(alice, cap)
        assert follow(store, Edge(alice, bob), 2, cap) is Outcome.FOLLOWING
        with pytest.raises(FollowingFullError, match=f"{cap} accounts already"):
            follow(store, Edge(alice, carol), 2, cap)
        unfollow(store, Edge(alice, bob))
        counted(alice, -10)
        follow(store, Edge(alice, carol), 3, cap)
        assert [row.user_id for row in store.following(alice, 10, None).users] == [carol]

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
            store.following(somebody(), 3, encode(cursor))


class TestMemoryStore(StorePromises):
    """In memory."""

    @pytest.fixture
    def store(self):
        return MemoryStore()

    @pytest.fixture
    def cap(self):
        return 1

    @pytest.fixture
    def counted(self):
        """It counts by itself."""
        return lambda *_: None


@pytest.mark.stack
class TestDynamoStore(StorePromises):
    """On real tables."""

    @pytest.fixture
    def dynamodb(self):
        return client()

    @pytest.fixture
    def store(self, dynamodb):
        return DynamoFollows(dynamodb, os.environ.get("TABLE_PREFIX", ""))

    @pytest.fixture
    def cap(self):
        """So many that it does not matter whether an aggregator is at work beside us."""
        return 1_000_000

    @pytest.fixture
    def counted(self, dynamodb):
        """Count in the aggregator's place."""
        return lambda user_id, change: dynamodb.update_item(
            TableName=os.environ.get("TABLE_PREFIX", "") + "users",
            Key={"user_id": {"S": user_id}},
            UpdateExpression="ADD following_count :change",
            ExpressionAttributeValues={":change": {"N": str(change)}},
        )

    def test_a_follow_carries_the_trace_of_its_request(self, store, dynamodb, somebody, spans):
        """Asked for or accepted; without a trace the row has no such attribute."""

        def row(edge):
            key = {"followee_id": {"S": edge.followee_id}, "follower_id": {"S": edge.follower_id}}
            return dynamodb.get_item(TableName=table, Key=key, ConsistentRead=True)["Item"]

        table = os.environ.get("TABLE_PREFIX", "") + "followers"
        plain, traced, accepted = (Edge(somebody(), somebody()) for _ in range(3))
        store.add(plain, 5)
        store.request(accepted, 5)
        with traces.span("POST", "SERVER", [], {}):
            store.add(traced, 5)
            assert store.accept(accepted, 5)
            carried = traces.traceparent()
        assert spans()[0].context.trace_id == int(carried.split("-")[1], 16)
        assert "traceparent" not in row(plain)
        assert [row(edge)["traceparent"]["S"] for edge in (traced, accepted)] == [carried] * 2

    def test_counts_that_came_before_the_profile_stay(self, store, counted, somebody):
        """The aggregator may create the item first; the profile joins it."""
        alice = somebody()
        counted(alice, 3)
        assert store.profile(alice) is None
        profile, created = store.save_profile(alice, "Alice", None, 5)
        assert created
        assert (profile.followers_count, profile.following_count, profile.created_at) == (0, 3, 5)

    def test_a_deleted_account_is_due_for_erasure_and_its_name_is_gone(self, store, dynamodb, somebody):
        """tweet-service finds it by that mark; a later delete of the same account does not set it again."""
        alice, table = somebody(), os.environ.get("TABLE_PREFIX", "") + "users"
        store.save_profile(alice, "Alice", None, 1)
        store.delete_account(alice, 2)
        key = {"user_id": {"S": alice}}
        item = dynamodb.get_item(TableName=table, Key=key)["Item"]
        assert (item["erasure"], item["deleted_at"], "display_name" in item) == ({"S": "due"}, {"N": "2"}, False)
        dynamodb.update_item(TableName=table, Key=key, UpdateExpression="REMOVE erasure")
        store.delete_account(alice, 3)
        assert "erasure" not in dynamodb.get_item(TableName=table, Key=key)["Item"]

    @pytest.mark.parametrize("write", WRITES, ids=list(WRITES))
    def test_a_transaction_on_the_item_is_waited_out(self, somebody, write):
        """AWS refuses a write while a transaction holds the item; DynamoDB Local never does, so it is injected."""
        store, refused = _with_conflicts(3, write)
        WRITES[write](store, Edge(somebody(), somebody()))
        assert refused == [3]

    @pytest.mark.usefixtures("dynamodb_away")
    def test_a_store_that_is_away_is_named(self, somebody):
        """No answer within seconds is an error that invites another try."""
        with pytest.raises(StoreAwayError, match=r"127\.0\.0\.1:9"):
            DynamoFollows(client(), "").profile(somebody())


def _with_conflicts(times, write):
    """Build a store whose first writes are answered as AWS answers during a transaction."""
    dynamodb, refused = client(), [0]
    conflict = {"__type": "com.amazonaws.dynamodb.v20120810#TransactionConflictException"}
    if write == "TransactWriteItems":
        reasons = [{"Code": "None"}, {"Code": "TransactionConflict"}]
        cancelled = "com.amazonaws.dynamodb.v20120810#TransactionCanceledException"
        conflict = {"__type": cancelled, "CancellationReasons": reasons}

    def refuse(**_):
        if refused[0] == times:
            return None
        refused[0] += 1
        return Answer(400, json.dumps(conflict).encode())

    dynamodb.meta.events.register(f"before-send.dynamodb.{write}", refuse)
    return DynamoFollows(dynamodb, os.environ.get("TABLE_PREFIX", "")), refused
