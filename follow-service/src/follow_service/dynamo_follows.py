"""Who follows whom and who asks to, in DynamoDB: each call is one request."""

import re
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from contracts.ids import is_user_id
from contracts.tables import FOLLOW_REQUESTS, FOLLOWERS, USERS
from follow_service.dynamo_profiles import DynamoProfiles, account
from follow_service.follows import Account, Edge, Followed, Follows, Requested, Requests, Standing
from murmuration_edge import cursors
from murmuration_runtime import traces
from murmuration_runtime.dynamo import errors_named, reasons, retry_conflicts
from murmuration_runtime.errors import StoreAwayError

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

_TIME = re.compile(r"[0-9]{1,15}")
Row = TypeVar("Row", Followed, Requested)


class DynamoFollows(DynamoProfiles):
    """The Store on the tables users, followers and follow_requests."""

    def __init__(self, dynamodb: "DynamoDBClient", table_prefix: str) -> None:
        super().__init__(dynamodb, table_prefix)
        self._followers = f"{table_prefix}{FOLLOWERS.name}"
        self._requests = f"{table_prefix}{FOLLOW_REQUESTS.name}"

    def check(self) -> None:
        """Raise StoreAwayError unless all tables answer."""
        pair: Any = {FOLLOWERS.followee_id: {"S": "-"}, FOLLOWERS.follower_id: {"S": "-"}}
        with errors_named():
            self._dynamodb.get_item(TableName=self._users, Key={USERS.user_id: {"S": "-"}})
            self._dynamodb.get_item(TableName=self._followers, Key=pair)
            self._dynamodb.get_item(TableName=self._requests, Key=pair)

    def standing(self, edge: Edge) -> Standing:
        people = (edge.followee_id, edge.follower_id)
        keys: Any = {
            self._users: [{USERS.user_id: {"S": user_id}} for user_id in people],
            self._followers: [_key(edge)],
            self._requests: [_key(edge)],
        }
        wanted: Any = {table: {"Keys": found, "ConsistentRead": True} for table, found in keys.items()}
        with errors_named():
            answer: Any = self._dynamodb.batch_get_item(RequestItems=wanted)
        if answer["UnprocessedKeys"]:
            raise StoreAwayError("DynamoDB was too busy to read all of the rows")
        rows = answer["Responses"]
        accounts = {item[USERS.user_id]["S"]: account(item) for item in rows[self._users]}
        followee, follower = (accounts.get(user_id, Account()) for user_id in people)
        return Standing(follower, followee, bool(rows[self._followers]), bool(rows[self._requests]))

    def add(self, edge: Edge, now: int) -> None:
        """Write the edge; the condition keeps the first row, so that a repeat is no change in the stream."""
        self._put(self._followers, edge, FOLLOWERS.followed_at, now, _trace())

    def remove(self, edge: Edge) -> None:
        retry_conflicts(lambda: self._dynamodb.delete_item(TableName=self._followers, Key=_key(edge)))

    def request(self, edge: Edge, now: int) -> None:
        self._put(self._requests, edge, FOLLOW_REQUESTS.requested_at, now)

    def withdraw(self, edge: Edge) -> None:
        retry_conflicts(lambda: self._dynamodb.delete_item(TableName=self._requests, Key=_key(edge)))

    def accept(self, edge: Edge, now: int) -> bool:
        """Move the request to the edges in one transaction; an edge that is there keeps its time."""
        taken: Any = {
            "TableName": self._requests,
            "Key": _key(edge),
            "ConditionExpression": "attribute_exists(followee_id)",
        }
        written: Any = {
            "TableName": self._followers,
            "Key": _key(edge),
            "UpdateExpression": "SET followed_at = if_not_exists(followed_at, :now)",
            "ExpressionAttributeValues": {":now": {"N": str(now)}},
        }
        if trace := _trace():
            written["UpdateExpression"] += ", traceparent = :trace"
            written["ExpressionAttributeValues"][":trace"] = trace[FOLLOWERS.traceparent]
        try:
            retry_conflicts(
                lambda: self._dynamodb.transact_write_items(TransactItems=[{"Delete": taken}, {"Update": written}])
            )
        except self._dynamodb.exceptions.TransactionCanceledException as error:
            if "ConditionalCheckFailed" in reasons(error):
                return False
            raise StoreAwayError(f"DynamoDB cancelled the move of a follow request: {error}") from error
        return True

    def followers(self, user_id: str, limit: int, cursor: str | None) -> Follows:
        query = {"TableName": self._followers, "IndexName": FOLLOWERS.by_recency}
        names = FOLLOWERS.followee_id, FOLLOWERS.follower_id, FOLLOWERS.followed_at
        return Follows(*self._page(query, names, Followed, user_id, limit, cursor))

    def following(self, user_id: str, limit: int, cursor: str | None) -> Follows:
        query = {"TableName": self._followers, "IndexName": FOLLOWERS.by_follower}
        names = FOLLOWERS.follower_id, FOLLOWERS.followee_id, FOLLOWERS.followed_at
        return Follows(*self._page(query, names, Followed, user_id, limit, cursor))

    def requests(self, user_id: str, limit: int, cursor: str | None) -> Requests:
        query = {"TableName": self._requests, "IndexName": FOLLOW_REQUESTS.by_recency}
        names = FOLLOW_REQUESTS.followee_id, FOLLOW_REQUESTS.follower_id, FOLLOW_REQUESTS.requested_at
        return Requests(*self._page(query, names, Requested, user_id, limit, cursor))

    def _put(self, table: str, edge: Edge, when: str, now: int, more: Any = None) -> None:
        item: Any = {**_key(edge), when: {"N": str(now)}, **(more or {})}
        with suppress(self._dynamodb.exceptions.ConditionalCheckFailedException):
            retry_conflicts(
                lambda: self._dynamodb.put_item(
                    TableName=table, Item=item, ConditionExpression="attribute_not_exists(followee_id)"
                )
            )

    def _page(
        self,
        query: Any,
        names: tuple[str, str, str],
        row: Callable[[str, int], Row],
        user_id: str,
        limit: int,
        cursor: str | None,
    ) -> tuple[list[Row], str | None]:
        """Return a page's rows, and its next cursor."""
        mine, theirs, when = names

        def start(at: int, other: str) -> Any:
            return {mine: {"S": user_id}, theirs: {"S": other}, when: {"N": str(at)}}

        begin = {"ExclusiveStartKey": start(*_read_cursor(cursor))} if cursor else {}
        with errors_named():
            answer = self._dynamodb.query(
                KeyConditionExpression=f"{mine} = :me",
                ExpressionAttributeValues={":me": {"S": user_id}},
                ScanIndexForward=False,
                Limit=limit + 1,
                **query,
                **begin,
            )
        rows = [row(item[theirs]["S"], int(item[when]["N"])) for item in answer["Items"]]
        last = answer["Items"][limit - 1] if len(rows) > limit else None
        return rows[:limit], _write_cursor(last[when]["N"], last[theirs]["S"]) if last else None


def _trace() -> Any:
    """Return the attribute by which the bridge finds the trace of this request; none if it is not traced."""
    traceparent = traces.traceparent()
    return {FOLLOWERS.traceparent: {"S": traceparent}} if traceparent else {}


def _key(edge: Edge) -> Any:
    """Return the key of the edge, which is that of its request too."""
    return {FOLLOWERS.followee_id: {"S": edge.followee_id}, FOLLOWERS.follower_id: {"S": edge.follower_id}}


def _write_cursor(at: str, user_id: str) -> str:
    return cursors.encode(f"{at} {user_id}")


def _read_cursor(cursor: str) -> tuple[int, str]:
    at, _, user_id = (cursors.decode(cursor) or "").partition(" ")
    if _TIME.fullmatch(at) and is_user_id(user_id):
        return int(at), user_id
    raise cursors.BadCursorError
