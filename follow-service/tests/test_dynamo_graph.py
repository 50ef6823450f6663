"""What the graph's tables promise: the same tests on DynamoDB in memory and on a real one."""

import json
import os

import pytest
from botocore.exceptions import ConnectionClosedError

from follow_service.dynamo_graph import dynamo_graph
from follow_service.follows import Edge
from follow_service.lists import Listed, Row
from follow_service.people import NO_TIES, Ties
from follow_service.profiles import Account
from murmuration_edge.cursors import BadCursorError, encode
from murmuration_runtime import traces
from murmuration_runtime.dynamo import client, client_for_requests
from murmuration_runtime.dynamo_wire import Answer
from murmuration_runtime.errors import StoreAwayError

PREFIX = os.environ.get("TABLE_PREFIX", "")
FOREIGN_CURSORS = ["not ours", "1", "1 ", "1 a b", "1 " + "x" * 3_000, "9" * 60 + " x", "-1 x", "\u0661 x", "[" * 2_500]
WRITES = {
    "UpdateItem": lambda graph, edge: graph.profiles.save(edge.follower_id, "Alice", None, None, 5),
    "PutItem": lambda graph, edge: graph.blocks.mute(edge.follower_id, edge.followee_id, 5),
    "DeleteItem": lambda graph, edge: graph.follows.remove(edge),
    "TransactWriteItems": lambda graph, edge: graph.follows.add(edge, 5),
}
TIMES = {
    Listed.FOLLOWERS: lambda graph, me, other, at: graph.follows.add(Edge(other, me), at),
    Listed.FOLLOWING: lambda graph, me, other, at: graph.follows.add(Edge(me, other), at),
    Listed.REQUESTS: lambda graph, me, other, at: graph.follows.request(Edge(other, me), at),
    Listed.SENT: lambda graph, me, other, at: graph.follows.request(Edge(me, other), at),
    Listed.BLOCKS: lambda graph, me, other, at: graph.blocks.block(me, other, at),
    Listed.MUTES: lambda graph, me, other, at: graph.blocks.mute(me, other, at),
}


class Promises:
    """Subclassed by one class for each DynamoDB."""

    @pytest.fixture
    def edge(self, somebody):
        return Edge(somebody(), somebody())

    @pytest.fixture
    def listed(self, graph):
        """Return a whole list, read by so many rows."""

        def rows(what, user_id, most=100):
            found, after = [], None
            while True:
                some, after = graph.lists.rows(what, user_id, most, after)
                found += some
                if after is None:
                    return found

        return rows

    def test_a_profile_is_created_once_and_renamed_after(self, graph, somebody):
        """The time of creation stays when the name changes; what is answered is what is stored."""
        alice = somebody()
        assert (graph.profiles.own(alice), graph.profiles.account(alice)) == (None, Account())
        for name, now in (("Alice", 1), ("Alicia 👩‍👩‍👧", 2)):
            saved = graph.profiles.save(alice, name, None, None, now)
            assert saved == graph.profiles.own(alice)
            assert (saved.display_name, saved.created_at) == (name, 1)

    @pytest.mark.parametrize("private", [None, True, False])
    @pytest.mark.parametrize("discoverable", [None, True, False])
    def test_what_is_given_changes_and_the_rest_stays(self, graph, somebody, private, discoverable):
        """Whatever it was before."""
        alice = somebody()
        graph.profiles.save(alice, "Alice", True, False, 1)
        saved = graph.profiles.save(alice, "Alice", private, discoverable, 2)
        expected = (private is not False, discoverable is True)
        assert (saved.is_private, saved.discoverable) == expected
        assert graph.profiles.own(alice) == saved
        assert graph.profiles.account(alice).is_private is expected[0]

    def test_a_deleted_account_stays_deleted(self, graph, somebody):
        """However often it is deleted or saved; one that never was is not."""
        alice = somebody()
        graph.profiles.delete(alice, 1)
        assert graph.profiles.account(alice) == Account()
        graph.profiles.save(alice, "Alice", None, None, 1)
        for now in (2, 3):
            graph.profiles.delete(alice, now)
        for private in (None, True, False):
            assert graph.profiles.save(alice, "Alice", private, None, 4) is None
        assert (graph.profiles.own(alice), graph.profiles.account(alice)) == (None, Account(deleted=True))

    @pytest.mark.parametrize("what", ["add", "request"])
    def test_twice_is_once(self, graph, edge, listed, what):
        """The first row stays as it is, so its stream tells of one change only; deleting is the same."""
        list_of = {"add": Listed.FOLLOWERS, "request": Listed.REQUESTS}[what]
        delete = {"add": graph.follows.remove, "request": graph.follows.withdraw}[what]
        for now in (1, 2):
            assert getattr(graph.follows, what)(edge, now)
        assert listed(list_of, edge.followee_id) == [Row(edge.follower_id, 1)]
        for _ in range(2):
            delete(edge)
        assert listed(list_of, edge.followee_id) == []

    def test_a_request_moves_once(self, graph, edge, listed):
        """Accepted, it is an edge of that time, and is listed no more; there is nothing to move then."""
        store = graph.follows
        store.request(edge, 1)
        assert store.accept(edge, 3)
        for _ in range(2):
            assert not store.accept(edge, 4)
            assert listed(Listed.REQUESTS, edge.followee_id) == listed(Listed.SENT, edge.follower_id) == []
            store.clear(edge)
        assert listed(Listed.FOLLOWERS, edge.followee_id) == [Row(edge.follower_id, 3)]
        store.remove(edge)
        store.request(edge, 5)
        store.clear(edge)
        assert store.standing(edge).requested
        store.withdraw(edge)
        assert not store.accept(edge, 6)

    def test_a_request_that_moves_to_an_edge_leaves_it_as_it_is(self, graph, edge, listed):
        """The edge's time stays, and the request is gone."""
        graph.follows.add(edge, 1)
        graph.follows.request(edge, 2)
        assert graph.follows.accept(edge, 3)
        assert not graph.follows.standing(edge).requested
        assert listed(Listed.FOLLOWING, edge.follower_id) == [Row(edge.followee_id, 1)]

    def test_a_request_beside_an_edge_is_in_no_list_and_goes_with_it(self, graph, edge, listed):
        """Without an edge it is neither."""
        store = graph.follows
        store.request(edge, 1)
        store.remove_with_request(edge)
        assert store.standing(edge).requested
        assert listed(Listed.REQUESTS, edge.followee_id) == [Row(edge.follower_id, 1)]
        store.add(edge, 2)
        assert listed(Listed.REQUESTS, edge.followee_id) == listed(Listed.SENT, edge.follower_id) == []
        store.remove_with_request(edge)
        found = store.standing(edge)
        assert (found.followed, found.requested) == (False, False)

    def test_how_two_stand_is_read_as_it_was_written(self, graph, edge):
        """Each part by itself."""
        parts = ("followed", "requested", "left_over", "blocking", "blocked")

        def standing():
            found = graph.follows.standing(edge)
            return {part for part in parts if getattr(found, part)}

        graph.profiles.save(edge.followee_id, "Bob", True, None, 1)
        people = graph.follows.standing(edge)
        assert (people.follower, people.followee) == (Account(), Account(exists=True, is_private=True))
        back = Edge(edge.followee_id, edge.follower_id)
        for act, holds in (
            (lambda: graph.follows.add(back, 1), set()),
            (lambda: graph.follows.request(edge, 1), {"requested"}),
            (lambda: graph.follows.accept(edge, 1), {"followed", "left_over"}),
            (lambda: graph.follows.clear(edge), {"followed"}),
            (lambda: graph.blocks.block(edge.follower_id, edge.followee_id, 1), {"blocking"}),
            (lambda: graph.blocks.block(edge.followee_id, edge.follower_id, 1), {"blocking", "blocked"}),
            (lambda: graph.blocks.unblock(edge.follower_id, edge.followee_id), {"blocked"}),
        ):
            act()
            assert standing() == holds

    def test_a_block_severs_all_between_two_and_lets_nothing_grow(self, graph, edge, listed):
        """Both ways; a repeat keeps the block's time; other people's rows stay."""
        back, store = Edge(edge.followee_id, edge.follower_id), graph.follows
        for each in (edge, back):
            store.add(each, 1)
            store.request(each, 1)
        for now in (2, 3):
            graph.blocks.block(edge.follower_id, edge.followee_id, now)
        for each in (edge, back):
            assert [write(each, 4) for write in (store.add, store.request, store.accept)] == [False] * 3
            found = store.standing(each)
            assert (found.followed, found.requested) == (False, False)
        assert listed(Listed.BLOCKS, edge.follower_id) == [Row(edge.followee_id, 2)]
        for _ in range(2):
            graph.blocks.unblock(edge.follower_id, edge.followee_id)
        assert store.add(edge, 5)
        assert store.request(back, 5)

    def test_ties_are_read_as_they_were_written(self, graph, edge):
        """From both sides; the other's block hides them."""
        alice, bob = edge.follower_id, edge.followee_id
        for each in (alice, bob):
            graph.profiles.save(each, "Somebody", None, None, 1)
        both = Edge(bob, alice)

        def ties(who, whom):
            found = graph.people.seen_with_ties(who, [whom, who])
            assert found[who].ties == NO_TIES
            return {name for name, holds in vars(found[whom].ties).items() if holds} if whom in found else None

        for act, mine, theirs in (
            (lambda: graph.follows.request(edge, 1), {"requested"}, {"requested_by"}),
            (lambda: graph.follows.accept(edge, 1), {"following"}, {"followed_by"}),
            (lambda: graph.follows.request(edge, 1), {"following"}, {"followed_by"}),
            (lambda: graph.follows.add(both, 1), {"following", "followed_by", "mutual"}, None),
            (lambda: graph.blocks.mute(alice, bob, 1), {"following", "followed_by", "mutual", "muting"}, None),
            (lambda: graph.blocks.block(alice, bob, 1), {"muting", "blocking"}, None),
            (lambda: graph.blocks.unmute(alice, bob), {"blocking"}, None),
        ):
            act()
            assert ties(alice, bob) == mine
            assert theirs is None or ties(bob, alice) == theirs
        assert ties(bob, alice) is None
        assert Ties(*[False] * 7) == NO_TIES

    @pytest.mark.parametrize("people", [0, 3, 102])
    def test_many_are_seen_as_each_is(self, graph, somebody, people):
        """However many; who has no profile, was deleted or blocks the viewer is nobody."""
        me, others = somebody(), [somebody() for _ in range(people)]
        for each in others[:5]:
            graph.profiles.save(each, "Somebody", None, None, 1)
        for each in others[:1]:
            graph.profiles.delete(each, 2)
        if people > 3:
            graph.blocks.block(others[3], me, 1)
            graph.blocks.block(me, others[4], 1)
        found = graph.people.seen(me, others)
        assert set(found) == {each for n, each in enumerate(others) if n in (1, 2, 4)}
        assert {each: seen.blocking for each, seen in found.items()} == {
            each: n == 4 for n, each in enumerate(others) if each in found
        }
        for each, seen in found.items():
            assert seen.profile == graph.people.seen(me, [each])[each].profile

    @pytest.mark.parametrize("what", Listed)
    @pytest.mark.parametrize("rows", [6, 7])
    def test_lists_are_complete_and_newest_first(self, graph, somebody, listed, what, rows):
        """Read by any number of rows, each is there once, in order."""
        me, others = somebody(), [somebody() for _ in range(rows)]
        for at, other in enumerate(others):
            TIMES[what](graph, me, other, at)
        for most in (1, 3, 100):
            assert listed(what, me, most) == [Row(other, at) for at, other in enumerate(others)][::-1]

    @pytest.mark.parametrize("what", Listed)
    def test_rows_of_one_moment_have_an_order_too(self, graph, somebody, listed, what):
        """A list goes on after a row of that moment, also when that row is gone."""
        me, others = somebody(), [somebody() for _ in range(9)]
        for other in others:
            TIMES[what](graph, me, other, 7)
        order = [row.user_id for row in listed(what, me)]
        assert sorted(order) == sorted(others)
        assert [row.user_id for row in listed(what, me, 2)] == order
        gone = Row(order[4], 7)
        for edge in (Edge(me, gone.user_id), Edge(gone.user_id, me)):
            graph.follows.remove(edge)
            graph.follows.withdraw(edge)
        graph.blocks.unblock(me, gone.user_id)
        graph.blocks.unmute(me, gone.user_id)
        rest, after = graph.lists.rows(what, me, 100, gone)
        assert ([row.user_id for row in rest], after) == (order[5:], None)

    def test_edges_are_told_from_the_table(self, graph, somebody):
        """However many are asked for; none of none."""
        me, others = somebody(), [somebody() for _ in range(103)]
        edges = [Edge(me, other) for other in others]
        for edge in edges[:2]:
            graph.follows.add(edge, 1)
        assert graph.lists.among(edges) == set(edges[:2])
        assert graph.lists.among([]) == set()

    def test_who_may_be_suggested_is_read_as_the_tables_are(self, graph, somebody):
        """Who has a profile, wants to be found, and has nothing to do with one yet; a reason is who is there."""
        me, nobody = somebody(), somebody()
        fit, followed, asked, blocked, blocking, muted, muting, dismissed, hidden, gone = others = [
            somebody() for _ in range(10)
        ]
        for each in others:
            graph.profiles.save(each, "Somebody", None, each != hidden, 1)
        graph.follows.add(Edge(me, followed), 1)
        graph.follows.request(Edge(me, asked), 1)
        graph.follows.add(Edge(fit, me), 1)
        graph.blocks.block(me, blocked, 1)
        graph.blocks.block(blocking, me, 1)
        graph.blocks.mute(me, muted, 1)
        graph.blocks.mute(muting, me, 1)
        graph.suggestible.dismiss(me, dismissed, 1)
        graph.follows.add(Edge(me, gone), 1)
        graph.profiles.delete(gone, 2)
        found = graph.suggestible.look(me, [*others, nobody], [followed, fit, gone, nobody])
        assert {each: seen.profile.user_id for each, seen in found.fit.items()} == {fit: fit}
        assert {each: profile.display_name for each, profile in found.friends.items()} == {followed: "Somebody"}

    def test_a_dismissal_keeps_its_first_time(self, graph, dynamodb, somebody):
        """However often it is repeated."""
        me, other = somebody(), somebody()
        for now in (1, 2):
            graph.suggestible.dismiss(me, other, now)
        key = {"user_id": {"S": me}, "dismissed_id": {"S": other}}
        row = dynamodb.get_item(TableName=f"{PREFIX}dismissals", Key=key, ConsistentRead=True)["Item"]
        assert row == {**key, "dismissed_at": {"N": "1"}}

    def test_counts_that_came_before_the_profile_stay(self, graph, dynamodb, somebody):
        """The aggregator may create the item first; the profile joins it."""
        alice = somebody()
        dynamodb.update_item(
            TableName=f"{PREFIX}users",
            Key={"user_id": {"S": alice}},
            UpdateExpression="ADD following_count :three",
            ExpressionAttributeValues={":three": {"N": "3"}},
        )
        assert graph.profiles.own(alice) is None
        profile = graph.profiles.save(alice, "Alice", None, None, 5)
        assert (profile.followers_count, profile.following_count, profile.created_at) == (0, 3, 5)
        assert graph.profiles.account(alice).following_count == 3

    def test_what_a_deleted_account_leaves_is_due_once(self, graph, dynamodb, somebody):
        """Jobs find it by its marks; a later delete of the same account does not set them again."""
        alice = somebody()
        key = {"user_id": {"S": alice}}
        graph.profiles.save(alice, "Alice", None, None, 1)
        graph.profiles.delete(alice, 2)
        item = dynamodb.get_item(TableName=f"{PREFIX}users", Key=key)["Item"]
        assert (item["erasure"], item["departure"], item["deleted_at"]) == ({"S": "due"}, {"S": "due"}, {"N": "2"})
        assert "display_name" not in item
        dynamodb.update_item(TableName=f"{PREFIX}users", Key=key, UpdateExpression="REMOVE erasure, departure")
        graph.profiles.delete(alice, 3)
        assert {"erasure", "departure"}.isdisjoint(dynamodb.get_item(TableName=f"{PREFIX}users", Key=key)["Item"])

    def test_rows_carry_the_trace_of_their_request(self, graph, dynamodb, somebody, spans):
        """Each that has a stream; without a trace the row has no such attribute."""
        alice, plain, traced, accepted = (somebody() for _ in range(4))

        def traceparent(table, **key):
            keys = {name: {"S": value} for name, value in key.items()}
            item = dynamodb.get_item(TableName=f"{PREFIX}{table}", Key=keys, ConsistentRead=True)["Item"]
            return item.get("traceparent", {}).get("S")

        def write(other):
            graph.follows.add(Edge(alice, other), 5)
            graph.follows.request(Edge(other, alice), 5)
            graph.blocks.mute(alice, other, 5)

        def told(other):
            there, back = {"followee_id": other, "follower_id": alice}, {"followee_id": alice, "follower_id": other}
            mute = {"muter_id": alice, "muted_id": other}
            return [
                traceparent("followers", **there),
                traceparent("follow_requests", **back),
                traceparent("mutes", **mute),
            ]

        write(plain)
        graph.follows.request(Edge(alice, accepted), 5)
        with traces.span("POST", "SERVER", [], {}):
            write(traced)
            assert graph.follows.accept(Edge(alice, accepted), 5)
            graph.blocks.block(alice, plain, 5)
            carried = traces.traceparent()
        assert spans()[0].context.trace_id == int(carried.split("-")[1], 16)
        assert told(traced) == [carried] * 3
        there = {"followee_id": accepted, "follower_id": alice}
        assert [traceparent(table, **there) for table in ("followers", "follow_requests")] == [carried] * 2
        assert traceparent("blocks", pair=f"{alice}#{plain}") == carried
        write(accepted)
        assert told(accepted)[1:] == [None, None]

    def test_all_tables_are_checked(self, graph):
        """By one request."""
        graph.check()


class TestInMemory(Promises):
    """On a DynamoDB in memory."""

    @pytest.fixture
    def dynamodb(self, aws):
        return aws.client()

    def test_a_cursor_that_was_not_handed_out_is_refused(self, call, join):
        """It is the client's error, whatever is in it."""
        join("alice")
        for path in ("/alice/followers", "/alice/friends", "/me/blocks"):
            for cursor in FOREIGN_CURSORS:
                refused = call("alice", f"GET /users{path}?cursor={encode(cursor)}")
                assert (refused.status_code, refused.json["code"]) == (400, "bad-cursor")
                assert str(BadCursorError()) in refused.json["detail"]


@pytest.mark.stack
class TestOnDynamoDb(Promises):
    """On real tables."""

    @pytest.fixture
    def dynamodb(self):
        return client()

    @pytest.fixture
    def graph(self, dynamodb):
        return dynamo_graph(dynamodb, PREFIX)

    @pytest.mark.parametrize("write", WRITES, ids=list(WRITES))
    def test_a_transaction_on_the_item_is_waited_out(self, dynamodb, graph, edge, write):
        """AWS refuses a write while a transaction holds the item; DynamoDB Local never does, so it is injected."""
        conflict = {"__type": "com.amazonaws.dynamodb.v20120810#TransactionConflictException"}
        if write == "TransactWriteItems":
            cancelled = "com.amazonaws.dynamodb.v20120810#TransactionCanceledException"
            conflict = {"__type": cancelled, "CancellationReasons": [{"Code": "None"}, {"Code": "TransactionConflict"}]}
        refusals = [Answer(400, json.dumps(conflict).encode())] * 3
        dynamodb.meta.events.register(f"before-send.dynamodb.{write}", lambda **_: refusals.pop() if refusals else None)
        WRITES[write](graph, edge)
        assert not refusals

    @pytest.mark.parametrize("lost", [1, 2])
    def test_an_answer_that_was_lost_is_asked_for_again(self, dynamodb, edge, listed, lost):
        """The follow is there once; if the second answer is lost as well, the client's own repeat finds it done."""
        losing, left = client_for_requests(), [lost]

        def lose(request, **_):
            if left[0]:
                left[0] -= 1
                dynamodb.transact_write_items(**json.loads(request.body))
                raise ConnectionClosedError(endpoint_url=request.url)

        losing.meta.events.register("before-send.dynamodb.TransactWriteItems", lose)
        follows = dynamo_graph(losing, PREFIX).follows
        if lost == 2:
            with pytest.raises(StoreAwayError):
                follows.add(edge, 1)
        assert follows.add(edge, lost)
        assert listed(Listed.FOLLOWERS, edge.followee_id) == [Row(edge.follower_id, 1)]

    @pytest.mark.usefixtures("dynamodb_away")
    def test_a_store_that_is_away_is_named(self, somebody):
        """No answer within seconds is an error that invites another try."""
        away = dynamo_graph(client(), "")
        for ask in (away.check, lambda: away.profiles.own(somebody())):
            with pytest.raises(StoreAwayError, match=r"127\.0\.0\.1:9"):
                ask()
